"use strict";
/* The timeline. Places in the page's source are those of the whole run on an axis of BASE; `view` is the part of that
   axis that is shown, and `width` the width of the plot. */
const picture = document.getElementById("timeline");
if (picture) timeline(picture);

function timeline(svg) {
  const BASE = svg.viewBox.baseVal.width;
  const HEIGHT = svg.viewBox.baseVal.height;
  const NARROWEST = 560;
  const LETTER = 6.1, BOLD = 7, PAD = 5, MOST = 400;
  const knots = svg.dataset.knots.split(" ").map((knot) => knot.split(",").map(Number));
  const last = knots[knots.length - 1];
  const frame = svg.parentElement;
  const axis = document.getElementById("axis");
  const cursor = document.getElementById("cursor");
  const clock = document.getElementById("clock");
  const tip = document.body.appendChild(Object.assign(document.createElement("div"), { id: "tip" }));
  const view = { from: 0, to: BASE };
  let width = BASE;

  const between = (value, a, b) => Math.min(Math.max(value, a), b);
  const time = (x) => bend(x, 1, 0);
  const place = (t) => bend(t, 0, 1);
  function bend(value, a, b) {
    let n = 1;
    while (n < knots.length - 1 && knots[n][a] < value) n += 1;
    const [low, high] = [knots[n - 1], knots[n]];
    return high[a] > low[a] ? low[b] + (high[b] - low[b]) * (value - low[a]) / (high[a] - low[a]) : low[b];
  }

  const number = (element, name) => Number(element.getAttribute(name));
  const all = (query) => [...svg.querySelectorAll(query)];
  const rects = all("rect").map((e) => ({ e, x: number(e, "x"), w: number(e, "width"), tick: /^m-/.test(e.className.baseVal) }));
  const lines = all("line[x1]").filter((e) => !axis.contains(e) && !e.matches(".rule, .cursor"))
    .map((e) => ({ e, x: number(e, "x1") }));
  const curves = all("polyline").map((e) => ({ e, points: e.getAttribute("points").split(" ").map((p) => p.split(",")) }));
  const fixed = all(".folded").map((e) => ({ e, x: number(e, "x") }));
  const flags = all("a").map((e) => {
    const circle = e.querySelector("circle"), [digit, text] = e.querySelectorAll("text");
    return { e, circle, digit, text, x: number(circle, "cx"), wordings: e.dataset.l.split("|") };
  });
  const texts = all("[data-in], [data-by], [data-by-in]").map((e) => {
    const how = "in" in e.dataset ? "in" : "by" in e.dataset ? "by" : "byIn";
    const [a, b] = e.dataset[how].split(" ").map(Number);
    return { e, how, a, b, row: e.dataset.row, wordings: e.dataset.l ? e.dataset.l.split("|") : [e.textContent] };
  });

  function draw() {
    const zoom = width / (view.to - view.from);
    const at = (x) => (x - view.from) * zoom;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("width", width);
    for (const { e, x, w, tick } of rects) {
      const left = between(tick ? at(x + w / 2) - w / 2 : at(x), -9, width + 9);
      e.setAttribute("x", left.toFixed(1));
      if (!tick) e.setAttribute("width", Math.max(between(at(x + w), -9, width + 9) - left, 1).toFixed(1));
    }
    for (const { e, x } of lines) {
      const there = between(at(x), -9, width + 9);
      e.setAttribute("x1", there);
      e.setAttribute("x2", there);
    }
    for (const { e, points } of curves) e.setAttribute("points", points.map(([x, y]) => `${at(x).toFixed(1)},${y}`).join(" "));
    for (const { e, x } of fixed) e.setAttribute("x", at(x));
    for (const { e, circle, digit, text, x, wordings } of flags) {
      const there = at(x), room = (wording) => wording.length * BOLD + 16;
      e.style.display = there < -1 || there > width + 1 ? "none" : "";
      const shown = wordings.find((each) => there + room(each) <= width || there - room(each) >= 0) || "";
      const before = there + room(shown) > width;
      circle.setAttribute("cx", there);
      digit.setAttribute("x", there);
      text.textContent = shown;
      text.setAttribute("x", before ? there - 13 : there + 13);
      text.classList.toggle("end", before);
    }
    label(at);
    ticks(at, zoom);
    for (const button of bar.querySelectorAll("button")) button.disabled = button.dataset.do === "all" && whole();
  }

  /* The same rules as in labels.py: a text is shown where it fits and covers no other. */
  function label(at) {
    const taken = new Map();
    const take = (row, a, b) => {
      const others = taken.get(row) || taken.set(row, []).get(row);
      if (a < 0 || b > width || others.some(([c, d]) => c < b + PAD && a - PAD < d)) return false;
      others.push([a, b]);
      return true;
    };
    for (const { e, how, a, b, row, wordings } of texts) {
      const ends = [at(a), at(b)], left = Math.max(ends[0], 0), right = Math.min(ends[1], width);
      let shown = "", x = 0, end = false;
      if (right >= 0 && left <= width) {
        for (const wording of wordings) {
          const long = wording.length * (how === "by" ? BOLD : LETTER);
          if (how !== "by" && left + long + 2 * PAD <= right && take(row, left + PAD, left + PAD + long)) x = left + PAD;
          else if (how !== "in" && take(row, right + PAD, right + PAD + long)) x = right + PAD;
          else if (how !== "in" && take(row, left - PAD - long, left - PAD)) [x, end] = [left - PAD, true];
          else continue;
          shown = wording;
          break;
        }
      }
      e.textContent = shown;
      e.setAttribute("x", x.toFixed(1));
      e.classList.toggle("end", end);
    }
  }

  function ticks(at, zoom) {
    const steps = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
    const folds = knots.slice(1, -1).filter((_, n) => n % 2 === 0).map((knot, n) => [knot[0], knots[2 + 2 * n][0]]);
    const folded = folds.reduce((sum, [a, b]) => sum + b - a, 0), strips = folds.reduce((sum, [a, b]) => sum + place(b) - place(a), 0);
    const second = (last[1] - strips) / Math.max(last[0] - folded, 1e-9) * zoom;
    const step = steps.find((each) => each * second >= 85) || 3600;
    const from = Math.floor(time(Math.max(view.from, 0)) / step), to = Math.ceil(time(Math.min(view.to, last[1])) / step);
    const make = (name, attributes, text) => {
      const made = document.createElementNS(svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.textContent = text || "";
      return made;
    };
    const parts = [];
    for (let n = Math.max(from, 0); n <= to && parts.length < MOST; n += 1) {
      const t = n * step, x = at(place(t));
      if (t > last[0] || x < 0 || x > width || folds.some(([a, b]) => a < t && t < b)) continue;
      parts.push(make("line", { class: "grid", x1: x, x2: x, y1: svg.dataset.top - 4, y2: svg.dataset.bottom }));
      parts.push(make("text", { class: x < 12 ? "tick first" : "tick", x, y: svg.dataset.top - 10 }, `${+t.toFixed(2)} s`));
    }
    axis.replaceChildren(...parts);
  }

  const whole = () => view.from <= 0 && view.to >= BASE;
  function show(from, to) {
    const span = between(to - from, BASE / 500, BASE);
    view.from = between(from, 0, BASE - span);
    view.to = view.from + span;
    hide();
    draw();
  }
  function scale(factor, x = (view.from + view.to) / 2) {
    show(x - (x - view.from) * factor, x + (view.to - x) * factor);
  }
  const pan = (share) => show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));
  function moment() {
    const decisive = flags.find(({ e }) => e.id === "moment");
    if (decisive) show(decisive.x - BASE / 16, decisive.x + BASE / 16);
  }

  const bar = document.querySelector(".zoom");
  const actions = { in: () => scale(1 / 2), out: () => scale(2), all: () => show(0, BASE), moment };
  bar.hidden = false;
  bar.addEventListener("click", (event) => event.target.dataset.do && actions[event.target.dataset.do]());
  frame.addEventListener("keydown", (event) => {
    const keys = { "+": actions.in, "=": actions.in, "-": actions.out, 0: actions.all, Escape: actions.all,
      ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), m: moment };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const base = (event) => {
    const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
    return view.from + x * (view.to - view.from) / width;
  };
  frame.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) scale(event.deltaY > 0 ? 1.25 : 0.8, base(event));
    else if (event.shiftKey && !whole()) pan(Math.sign(event.deltaY || event.deltaX) * 0.1);
    else return;
    event.preventDefault();
  }, { passive: false });
  let dragged = null;
  const mark = document.createElementNS(svg.namespaceURI, "rect");
  mark.setAttribute("class", "chosen");
  svg.appendChild(mark);
  svg.addEventListener("mousedown", (event) => {
    if (event.button === 0 && !event.target.closest("a")) dragged = base(event);
  });
  addEventListener("mouseup", (event) => {
    const from = dragged;
    dragged = null;
    mark.setAttribute("width", 0);
    if (from === null) return;
    const to = base(event), pixels = Math.abs(to - from) * width / (view.to - view.from);
    if (pixels > 8) show(Math.min(from, to), Math.max(from, to));
  });
  svg.addEventListener("dblclick", actions.all);

  function hide() {
    tip.style.visibility = cursor.style.visibility = "hidden";
    clock.textContent = "";
  }
  frame.addEventListener("mouseleave", hide);
  svg.addEventListener("mousemove", (event) => {
    const here = base(event), x = (here - view.from) * width / (view.to - view.from);
    if (here < 0 || here > last[1]) return hide();
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.style.visibility = "visible";
    clock.setAttribute("x", between(x, 24, width - 24));
    clock.textContent = time(here).toFixed(2) + " s";
    if (dragged !== null) {
      const from = (dragged - view.from) * width / (view.to - view.from);
      for (const [key, value] of Object.entries({ x: Math.min(from, x), width: Math.abs(x - from), y: svg.dataset.top,
        height: svg.dataset.bottom - svg.dataset.top })) mark.setAttribute(key, value);
    }
    const text = event.target.dataset ? event.target.dataset.tip : "";
    tip.style.visibility = text ? "visible" : "hidden";
    if (!text) return;
    tip.textContent = text;
    tip.style.left = Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 10), 4) + "px";
    tip.style.top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 10) + "px";
  });

  function fit() {
    const room = matchMedia("print").matches ? BASE : Math.max(frame.clientWidth, NARROWEST);
    if (room === width) return;
    width = room;
    draw();
    const first = svg.querySelector("#moment circle") || svg.querySelector(".s-fault");
    if (first) frame.scrollLeft = number(first, first.matches("circle") ? "cx" : "x") - frame.clientWidth / 2;
  }
  addEventListener("resize", fit);
  for (const link of document.querySelectorAll('a[href="#moment"]')) link.addEventListener("click", moment);
  addEventListener("beforeprint", () => {
    width = BASE;
    show(0, BASE);
    for (const details of document.querySelectorAll(".columns details:has(table)")) details.open = true;
  });
  addEventListener("afterprint", fit);
  fit();
}
