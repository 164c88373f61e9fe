import { missingCitations } from '../journal/citations.ts';
import type { Call, RunFinish, RunState } from '../journal/journal.ts';

/** Next step of a run; each ends with a row of the journal, so that a killed one is repeated. */
export type Step =
  | { readonly do: 'route' }
  /** `last`: no tools are offered any more, so the model has to answer. */
  | { readonly do: 'ask'; readonly last: boolean }
  | {
      readonly do: 'note';
      readonly about: 'continue' | 'empty' | 'citations';
      readonly text: string;
    }
  /** Decide about new calls. */
  | { readonly do: 'plan'; readonly calls: readonly Call[] }
  /** Recover a call that was started and not answered, when its process is gone. */
  | { readonly do: 'recover'; readonly call: Call }
  | { readonly do: 'wait'; readonly calls: readonly Call[] }
  | { readonly do: 'end'; readonly finish: RunFinish };

export interface Kernel {
  readonly name: 'graph' | 'legacy';
  /** Calls that are decided together; those of them that only read run side by side. */
  readonly abreast: number;
  /** True if citations of evidence are checked before the end. */
  readonly verifies: boolean;
}

export const kernels: Readonly<Record<Kernel['name'], Kernel>> = {
  graph: { name: 'graph', abreast: 8, verifies: true },
  legacy: { name: 'legacy', abreast: 1, verifies: false },
};

const emptyTurnsAllowed = 2;

/** Returns the next step, purely from what has happened. */
export function nextStep(state: RunState): Step {
  if (state.routed === undefined) {
    return { do: 'route' };
  }
  const kernel = kernels[state.routed.kernel];
  const turn = state.turns.at(-1);
  if (turn === undefined) {
    return { do: 'ask', last: state.routed.max_turns <= 1 };
  }
  const open = turn.calls.filter(({ state: at }) => at !== 'finished');
  if (open.length > 0) {
    const started = open.find(({ state: at }) => at === 'started');
    if (started !== undefined) {
      return { do: 'recover', call: started };
    }
    const planned = open.filter(({ state: at }) => at === 'planned');
    return planned.length > 0
      ? { do: 'plan', calls: planned.slice(0, kernel.abreast) }
      : { do: 'wait', calls: open };
  }
  const spent = state.turns.length >= state.routed.max_turns;
  if (turn.calls.length > 0 || turn.notes.length > 0) {
    return spent
      ? { do: 'end', finish: 'length' }
      : { do: 'ask', last: state.turns.length >= state.routed.max_turns - 1 };
  }
  return afterAnswer(state, kernel, spent);
}

/** Returns the step after the model's final answer, or an empty one. */
function afterAnswer(state: RunState, kernel: Kernel, spent: boolean): Step {
  const { text, finish } = state.turns.at(-1)!;
  const noted = (about: string): number =>
    state.turns.flatMap(({ notes }) => notes).filter((note) => note.about === about).length;
  if (finish === 'length') {
    return noted('continue') === 0 && !spent
      ? {
          do: 'note',
          about: 'continue',
          text:
            text.trim() === ''
              ? 'You thought until no tokens were left for an answer. Think briefly, and answer now.'
              : 'Your answer was cut off. Continue exactly where it ended, and repeat nothing.',
        }
      : { do: 'end', finish: 'length' };
  }
  if (text.trim() === '') {
    return noted('empty') < emptyTurnsAllowed && !spent
      ? {
          do: 'note',
          about: 'empty',
          text: 'Your answer was empty. Say what you have found so far, or call a different tool.',
        }
      : { do: 'end', finish: 'error' };
  }
  const missing = kernel.verifies ? missingCitations(state) : [];
  if (missing.length > 0 && noted('citations') === 0 && !spent) {
    const text = `There is no evidence ${missing.join(', ')} in this run. Rewrite your answer: cite only evidence that a tool has returned, and leave out claims without evidence.`;
    return { do: 'note', about: 'citations', text };
  }
  return { do: 'end', finish: 'stop' };
}
