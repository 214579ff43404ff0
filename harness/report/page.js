"use strict";
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = button.dataset.copy;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = document.body.appendChild(document.createElement("textarea"));
      field.value = text;
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
}

const picture = document.getElementById("timeline");
if (picture) {
  const tip = document.body.appendChild(Object.assign(document.createElement("div"), { id: "tip" }));
  const cursor = document.getElementById("cursor");
  const clock = document.getElementById("clock");
  const left = Number(picture.dataset.left);
  const right = Number(picture.dataset.right);
  const seconds = Number(picture.dataset.seconds);
  const hide = () => {
    tip.style.visibility = cursor.style.visibility = "hidden";
    clock.textContent = "";
  };
  picture.addEventListener("mouseleave", hide);
  picture.addEventListener("mousemove", (event) => {
    const x = new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse()).x;
    if (x < left || x > right) return hide();
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    cursor.style.visibility = "visible";
    clock.setAttribute("x", x);
    clock.textContent = ((x - left) / (right - left) * seconds).toFixed(2) + " s";
    const text = event.target.dataset ? event.target.dataset.tip : "";
    tip.style.visibility = text ? "visible" : "hidden";
    if (!text) return;
    tip.textContent = text;
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 10) + "px";
    tip.style.top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 10) + "px";
  });
}
