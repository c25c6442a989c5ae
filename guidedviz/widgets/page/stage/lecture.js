// Lecture mode: the stage fills the screen, with type that can be read from the last row.

const LINES = 580; // pixels of the stage's own measure that fill the height of a screen
const LEAST = 1.25;

/**
 * @param {HTMLElement} root
 */
export async function toggleLecture(root) {
  if (document.fullscreenElement === root) return document.exitFullscreen();
  const leave = () => {
    if (document.fullscreenElement === root) return;
    root.classList.remove("gv-lecture");
    document.removeEventListener("fullscreenchange", leave);
  };
  root.classList.add("gv-lecture");
  root.style.setProperty("--zoom", String(Math.max(LEAST, screen.height / LINES)));
  document.addEventListener("fullscreenchange", leave);
  try {
    await root.requestFullscreen();
  } catch {
    leave(); // the browser forbids it here
  }
  root.focus({ preventScroll: true });
}
