// The theme of the page: the one that was chosen with the button, else that of the system. It is set before the page is
// painted; browsers may forbid a page from a file to keep the choice.
(() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = "";
  const keep = (act) => {
    try {
      return act(localStorage);
    } catch {
      return null;
    }
  };
  const isDark = () => (chosen ? chosen === "dark" : dark.matches);

  function show() {
    document.body.dataset.jpThemeLight = String(!isDark());
    document.querySelector("button.theme")?.setAttribute("aria-pressed", String(isDark()));
  }

  chosen = keep((kept) => kept.getItem("guidedviz-theme")) ?? "";
  dark.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.querySelector("button.theme").addEventListener("click", () => {
      chosen = isDark() ? "light" : "dark";
      keep((kept) => kept.setItem("guidedviz-theme", chosen));
      show();
    });
  });
  show();
})();
