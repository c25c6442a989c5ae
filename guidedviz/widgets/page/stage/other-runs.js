// The other runs: those that were left.

/** @import { StageView } from "../types.js" */
/** @import { Part } from "../shared/parts.js" */
/** @import { StageActions } from "./layout.js" */
import { tokenPart } from "../shared/elements.js";

/**
 * The runs that were left: press one to return to it.
 * @param {StageView} view
 * @param {StageActions} act
 * @returns {Part}
 */
export const branchesPart = ({ branches, beside }, act) => ["div.gv-branches", { role: "group", "aria-label": "other runs", hidden: !branches.length },
  ["span.gv-soft", branches.length === 1 ? "other run" : "other runs"],
  ...branches.flatMap(([same, count, text], branch) => {
    const isBeside = beside?.branch === branch;
    const compare = () => act.say({ do: "beside", branch: isBeside ? -1 : branch });
    return [["button.gv-branch", { title: `return to this run: tokens ${same + 1} to ${same + count}`, click: () => act.say({ do: "turn", branch }) }, ["small", `${same + 1} `], tokenPart(text)],
      ["button.gv-key.gv-compare", { "aria-label": `put other run ${branch + 1} beside this one`, title: "beside this run, token by token", "aria-pressed": isBeside, click: compare }, "⇄"]];
  })];
