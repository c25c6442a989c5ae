// What nobody sees before he turns to the stage: the help, the tour, the quiz, the run beside the shown one, the field of the
// prompt, and the settings in the menu. It is a bundle of its own, which the stage loads when somebody points at it or gives
// it the focus.

/** @import { StageView } from "../types.js" */
/** @import { StageActions } from "./layout.js" */
/** @typedef {typeof code} Learning */
import { besidePart, promptField } from "./asked-runs.js";
import { askedNow, quizPart } from "./quiz.js";
import { settingRows } from "./settings.js";
import { followTour, helpPart, tourPart } from "./tour.js";

/**
 * @param {StageView} view
 * @param {StageActions} act
 */
const parts = (view, act) => [tourPart(view, act), quizPart(view, act), besidePart(view, act)];
/** @param {StageView} view */
function questionOf(view) {
  const asked = askedNow(view);
  return asked?.isOpen ? asked.question?.[0] : undefined;
}
const code = { followTour, helpPart, parts, promptField, questionOf, settingRows };

export default code;
