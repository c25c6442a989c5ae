// What teaches a person to use the stage: the help, the tour and the quiz. It is a bundle of its own, which the stage loads
// when somebody points at it or gives it the focus.

/** @typedef {typeof code} Learning */
import { askedNow, quizPart } from "./quiz.js";
import { followTour, helpPart, tourPart } from "./tour.js";

const code = { askedNow, followTour, helpPart, quizPart, tourPart };

export default code;
