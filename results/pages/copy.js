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
    const label = button.textContent;
    button.textContent = "copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}
