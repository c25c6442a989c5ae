// What nobody sees before he turns to the stage: the help, the tour, the quiz, and the settings in the menu. It is a bundle
// of its own, which the stage loads when somebody points at it or gives it the focus.

/** @typedef {typeof code} Learning */
import { askedNow, quizPart } from "./quiz.js";
import { settingRows } from "./settings.js";
import { followTour, helpPart, tourPart } from "./tour.js";

const code = { askedNow, followTour, helpPart, quizPart, settingRows, tourPart };

export default code;
