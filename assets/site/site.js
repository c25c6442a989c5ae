// The search over all pages, from an index that is loaded as a script when it is first needed: this works from a file.
(() => {
  const [root, most] = [document.body.dataset.root, 12];
  const [field, list] = [document.querySelector(".search input"), document.querySelector(".found")];
  let loading = null;

  function load() {
    loading ??= new Promise((done) => {
      const script = Object.assign(document.createElement("script"), { src: `${root}files/index.js` });
      script.addEventListener("load", () => done(window.siteIndex));
      document.head.append(script);
    });
    return loading;
  }

  // All words must be there; a word in a heading counts more than one in the text or in the page's name.
  function find(index, words) {
    const scored = index.map((entry) => {
      const [page, heading, text] = [entry.page, entry.heading, entry.text].map((one) => one.toLowerCase());
      const points = words.map((word) => page.includes(word) + 8 * heading.includes(word) + Math.min(4, text.split(word).length - 1));
      return [points.includes(0) ? 0 : points.reduce((sum, one) => sum + one, 0), entry];
    });
    return scored.filter(([score]) => score).sort(([a], [b]) => b - a).slice(0, most).map(([, entry]) => entry);
  }

  function show(entry, word) {
    const at = Math.max(0, entry.text.toLowerCase().indexOf(word));
    const from = at > 40 ? entry.text.indexOf(" ", at - 40) + 1 : 0;
    const near = entry.text.slice(from, from + 110);
    const [item, link, about] = ["li", "a", "small"].map((name) => document.createElement(name));
    link.href = root + entry.file + (entry.anchor && `#${entry.anchor}`);
    link.textContent = entry.heading === entry.page ? entry.page : `${entry.page} › ${entry.heading}`;
    about.textContent = (from ? "… " : "") + near;
    item.append(link, about);
    return item;
  }

  async function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? find(await load(), words) : [];
    const nothing = Object.assign(document.createElement("li"), { textContent: "nothing found" });
    list.replaceChildren(...(found.length ? found.map((entry) => show(entry, words[0])) : [nothing]));
    list.hidden = !words.length;
  }

  function isTyping({ target }) {
    return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
  }

  field.addEventListener("focus", load);
  field.addEventListener("input", search);
  document.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "/" && !isTyping(event)) {
      field.focus();
      event.preventDefault();
    } else if (event.key === "Escape" && !list.hidden) {
      list.hidden = true;
      field.focus();
    } else if (event.key === "Enter" && event.target === field) {
      links[0]?.click();
    } else if (step && event.target.closest(".search")) {
      const at = links.indexOf(document.activeElement) + step;
      (links[at] ?? field).focus();
      event.preventDefault();
    }
  });
  document.addEventListener("click", ({ target }) => {
    if (!target.closest(".search") || target.closest(".found a")) list.hidden = true;
  });

  // A narrow page begins with the text, not with the list of pages.
  const narrow = matchMedia("(max-width: 1100px)");
  const fold = () => document.querySelectorAll(".pages details").forEach((pages) => (pages.open = !narrow.matches));
  narrow.addEventListener("change", fold);
  fold();
  for (const box of document.querySelectorAll("main pre, main table, .picture")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0; // what scrolls is reachable by keyboard
  }
})();
