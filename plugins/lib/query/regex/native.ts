import { anything, areDisjoint, type CharSet, classText, complement, setOf } from './char-set.ts';
import type { Node } from './syntax.ts';

/** Pattern for the runtime's own engine, which is ten times as fast, but backtracks. */
export interface NativePattern {
  readonly expression: RegExp;
  /** Returns whether its work on this subject is bounded, whatever the subject contains. */
  isQuick(subject: string): boolean;
}

/** One step through a pattern; what may be left out or repeated has another `min` or `max` than 1. */
interface Step {
  readonly set: CharSet;
  readonly min: number;
  readonly max: number;
}

interface Written {
  readonly text: string;
  readonly steps: readonly (Step | 'begin' | 'end')[];
  /** Number of ways in which its bounded parts can match. */
  readonly ways: number;
  readonly unbounded: boolean;
  readonly mayBeEmpty: boolean;
}

const maxWays = 64;
const maxOpen = 2;

/** About a tenth of a millisecond. */
const maxWork = 2 ** 17;

/** Max length of a subject: the runtime's memory for backtracking is bounded, too. */
const longestSubject = 1_000_000;

/**
 * Converts a pattern in which only single characters are repeated: there both engines find the same
 * match, with the same groups. An unbounded repetition is harmless if the characters before and
 * after it cannot be part of it: then no two paths through the pattern cover the same position.
 * Others count as open, and each multiplies the work by the length of the subject.
 */
export function nativePattern(root: Node, anchored: boolean): NativePattern | undefined {
  const written = write(
    anchored ? { kind: 'concat', parts: [{ kind: 'begin' }, root, { kind: 'end' }] } : root,
  );
  if (written === undefined || written.ways > maxWays) {
    return undefined;
  }
  const open = openRepetitions(written.steps);
  if (open > maxOpen) {
    return undefined;
  }
  const exponent = open + (anchored || open === 0 ? 0 : 1);
  const longest =
    open === 0 ? longestSubject : Math.floor((maxWork / written.ways) ** (1 / exponent));
  return {
    expression: new RegExp(written.text, 'u'),
    isQuick: (subject) => subject.length <= longest,
  };
}

function write(node: Node): Written | undefined {
  switch (node.kind) {
    case 'text':
      return node.fold ? folded(node.text) : plain(node.text);
    case 'one':
      return node.set && single(node.set);
    case 'any':
      return single(node.newline ? anything : complement(setOf('\n')));
    case 'begin':
    case 'end':
      return {
        text: node.kind === 'begin' ? '^' : '$',
        steps: [node.kind],
        ways: 1,
        unbounded: false,
        mayBeEmpty: true,
      };
    case 'group': {
      const part = write(node.part);
      return part && { ...part, text: `(${part.text})` };
    }
    case 'concat':
      return inOrder(node.parts);
    case 'either':
      return oneOfThem(node.parts);
    case 'repeat':
      return repeated(node);
    default:
      return undefined;
  }
}

const single = (set: CharSet): Written => ({
  text: classText(set),
  steps: [{ set, min: 1, max: 1 }],
  ways: 1,
  unbounded: false,
  mayBeEmpty: false,
});

/** A character beyond ASCII counts as if it could be any of them. */
function plain(text: string): Written {
  const chars = Array.from(text);
  return {
    text: chars.map((char) => `\\u{${char.codePointAt(0)!.toString(16)}}`).join(''),
    steps: chars.map((char) => ({
      set: char < '\x80' ? setOf(char) : { ascii: 0n, others: true },
      min: 1,
      max: 1,
    })),
    ways: 1,
    unbounded: false,
    mayBeEmpty: text === '',
  };
}

/** A letter of ASCII, and the two beyond it that fold to one. */
function folded(text: string): Written | undefined {
  if (!/^[A-Za-z]$/.test(text)) {
    return undefined;
  }
  const lower = text.toLowerCase();
  const far = lower === 'k' ? '\\u{212a}' : lower === 's' ? '\\u{17f}' : '';
  const set = { ascii: setOf(lower + text.toUpperCase()).ascii, others: far !== '' };
  return { ...single(set), text: `[${lower}${lower.toUpperCase()}${far}]` };
}

function inOrder(parts: readonly Node[]): Written | undefined {
  const written: Written[] = [];
  for (const part of parts) {
    const one = write(part);
    if (one === undefined) {
      return undefined;
    }
    written.push(one);
  }
  return {
    text: written.map(({ text }) => text).join(''),
    steps: written.flatMap(({ steps }) => steps),
    ways: written.reduce((product, { ways }) => product * ways, 1),
    unbounded: written.some(({ unbounded }) => unbounded),
    mayBeEmpty: written.every(({ mayBeEmpty }) => mayBeEmpty),
  };
}

/** Step that stands for an alternative: to its neighbours it could be any character. */
const unclear: Step = { set: anything, min: 0, max: 1 };

function oneOfThem(parts: readonly Node[]): Written | undefined {
  const written = parts.map((part) => write(part));
  let ways = 0;
  for (const one of written) {
    if (one === undefined || one.unbounded || one.mayBeEmpty) {
      return undefined;
    }
    ways += one.ways;
  }
  return {
    text: `(?:${written.map((one) => one!.text).join('|')})`,
    steps: [unclear],
    ways,
    unbounded: false,
    mayBeEmpty: false,
  };
}

function repeated({
  part,
  min,
  max,
  lazy,
}: Extract<Node, { kind: 'repeat' }>): Written | undefined {
  const inner = write(part);
  if (inner === undefined || inner.mayBeEmpty || inner.unbounded || lazy) {
    return undefined;
  }
  const [step] = inner.steps;
  const isSingle =
    (part.kind === 'one' || part.kind === 'any' || part.kind === 'text') &&
    inner.steps.length === 1 &&
    typeof step === 'object';
  if (isSingle) {
    const bounds = max === Infinity ? `{${min},}` : `{${min},${max}}`;
    return {
      text: `${inner.text}${bounds}`,
      steps: [{ set: step.set, min, max }],
      ways: max === Infinity ? 1 : max - min + 1,
      unbounded: max === Infinity,
      mayBeEmpty: min === 0,
    };
  }
  return min === 0 && max === 1
    ? {
        text: `(?:${inner.text})?`,
        steps: [unclear],
        ways: inner.ways + 1,
        unbounded: false,
        mayBeEmpty: true,
      }
    : undefined;
}

/** Returns the number of unbounded repetitions with a neighbour that could be part of them. */
function openRepetitions(steps: readonly (Step | 'begin' | 'end')[]): number {
  let open = 0;
  steps.forEach((step, i) => {
    if (typeof step === 'object' && step.max === Infinity) {
      const before = steps[i - 1];
      const behind = steps[i + 1];
      const startsClear = before === 'begin' || (before !== undefined && closes(before, step.set));
      const endsClear = behind === 'end' || (behind !== undefined && closes(behind, step.set));
      // After the last step nothing can fail, so nothing is retried.
      open += behind === undefined || (startsClear && endsClear) ? 0 : 1;
    }
  });
  return open;
}

const closes = (neighbour: Step | 'begin' | 'end', set: CharSet): boolean =>
  typeof neighbour === 'object' && neighbour.min > 0 && areDisjoint(neighbour.set, set);
