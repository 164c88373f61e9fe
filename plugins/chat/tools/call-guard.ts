import { askKey } from '../run/citations.ts';
import type { Call, RunState } from '../run/journal.ts';

const sameCallsAllowed = 2;
const callsOfOneTool = 10;
const subAgentsOfOneRun = 4;
const failuresInARow = 3;

/** Why a call is answered without being made, in words for the model; undefined lets it pass on to the gate. */
export function objection(state: RunState, call: Call): string | undefined {
  if (call.args === undefined) {
    return 'The arguments are not one JSON object. Write them again as an object that fits the schema of the tool.';
  }
  const all = state.turns.flatMap(({ calls }) => calls);
  // Those planned beside it count, too: a turn may plan any number at once.
  const earlier = all
    .slice(
      0,
      all.findIndex(({ id }) => id === call.id),
    )
    .filter(({ tool }) => tool === call.tool);
  const same = canonical(call.args);
  if (earlier.filter(({ args }) => args !== undefined && canonical(args) === same).length >= sameCallsAllowed) {
    return `${call.tool} was called with these arguments ${sameCallsAllowed} times already and its answers stand above. Call it with others, use another tool, or answer with what you know.`;
  }
  if (earlier.length >= (call.tool === askKey ? subAgentsOfOneRun : callsOfOneTool)) {
    return `${call.tool} was called ${earlier.length} times in this run, which is as often as it may be. Answer with what you know.`;
  }
  const last = earlier.slice(-failuresInARow);
  if (last.length === failuresInARow && last.every(({ outcome }) => outcome?.status === 'error' || outcome?.status === 'timeout')) {
    return `${call.tool} has failed ${failuresInARow} times in a row; it is left alone for the rest of this run.`;
  }
  return undefined;
}

/** One text for all ways to write the same arguments. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
