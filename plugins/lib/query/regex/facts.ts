import { globTest, type Piece } from './glob.ts';
import { type NativePattern, nativePattern } from './native.ts';
import { type Node, readSyntax } from './syntax.ts';

/** Facts about a pattern, known without running it. */
export interface Facts {
  /** About how many instructions its program has. */
  readonly size: number;
  readonly literals?: ReadonlySet<string>;
  readonly prefix?: string;
  readonly contains?: string;
  /** Decides without the engine; undefined where it cannot. */
  readonly test?: (subject: string) => boolean | undefined;
  /** The same as an expression of the runtime, for the subjects on which that is sure to be quick. */
  readonly native?: NativePattern;
}

const maxBranches = 512;
const longestBranches = 16 * 1024;

export function factsOf(
  text: string,
  options: { readonly anchored: boolean; readonly fold: boolean; readonly dotAll: boolean },
): Facts {
  const root = readSyntax(text, options);
  if (root === undefined) {
    return { size: sizeByText(text) };
  }
  const size = sizeOf(root);
  const branches = branchesOf(root);
  const glob = branches === undefined ? undefined : globTest(branches, options.anchored);
  const prefix = options.anchored ? leading(root).text : '';
  const contains = required(root);
  const native = nativePattern(root, options.anchored);
  return {
    size,
    ...(glob?.literals !== undefined && { literals: glob.literals }),
    ...(glob?.test !== undefined && { test: glob.test }),
    ...(prefix !== '' && { prefix }),
    ...(contains !== '' && { contains }),
    ...(native !== undefined && { native }),
  };
}

/**
 * Returns the size of a pattern that cannot be parsed: every repetition counts as if it contained
 * all others.
 */
function sizeByText(text: string): number {
  let size = text.length;
  for (const [, min, max] of text.matchAll(/\{(\d{1,4})(?:,(\d{1,4})?)?\}/g)) {
    size *= Math.max(1, Number(min), Number(max ?? 0));
  }
  return size;
}

function sizeOf(node: Node): number {
  switch (node.kind) {
    case 'text':
      return node.text.length;
    case 'concat':
      return node.parts.reduce((sum, part) => sum + sizeOf(part), 0);
    case 'either':
      return node.parts.reduce((sum, part) => sum + sizeOf(part) + 1, 0);
    case 'group':
      return sizeOf(node.part) + 2;
    case 'repeat':
      return (
        sizeOf(node.part) *
          Math.max(1, node.min, Number.isFinite(node.max) ? node.max : node.min + 1) +
        1
      );
    default:
      return 1;
  }
}

/** Returns every path through the pattern, if all of them can be expressed as texts and gaps. */
function branchesOf(node: Node): Piece[][] | undefined {
  switch (node.kind) {
    case 'text':
      return [[{ text: node.text, fold: node.fold }]];
    case 'begin':
    case 'end':
      return [[node.kind]];
    case 'concat': {
      let ways: Piece[][] = [[]];
      for (const part of node.parts) {
        const next = branchesOf(part);
        if (next === undefined || tooMany(ways.length * next.length, 1)) {
          return undefined;
        }
        ways =
          next.length === 1
            ? ways.map((way) => (way.push(...next[0]!), way))
            : ways.flatMap((way) => next.map((more) => [...way, ...more]));
        if (tooMany(ways.length, ways[0]?.length ?? 0)) {
          return undefined;
        }
      }
      return ways;
    }
    case 'either': {
      const ways: Piece[][] = [];
      for (const part of node.parts) {
        const next = branchesOf(part);
        if (next === undefined || tooMany(ways.length + next.length, 1)) {
          return undefined;
        }
        ways.push(...next);
      }
      return ways;
    }
    case 'group':
      return branchesOf(node.part);
    case 'repeat':
      return repeated(node);
    default:
      return undefined;
  }
}

const tooMany = (branches: number, length: number): boolean =>
  branches > maxBranches || branches * length > longestBranches;

function repeated({ part, min, max }: Extract<Node, { kind: 'repeat' }>): Piece[][] | undefined {
  if (part.kind === 'any' && max === Infinity && min < 2) {
    return [[{ min, newline: part.newline }]];
  }
  if (min !== 0 || max !== 1) {
    return undefined;
  }
  const ways = branchesOf(part);
  return ways === undefined ? undefined : [...ways, []];
}

/** The text that every match begins with; `whole` when it is all there is. */
function leading(node: Node): { readonly text: string; readonly whole: boolean } {
  const nothing = { text: '', whole: false };
  switch (node.kind) {
    case 'text':
      return node.fold ? nothing : { text: node.text, whole: true };
    case 'begin':
      return { text: '', whole: true };
    case 'concat': {
      let text = '';
      for (const part of node.parts) {
        const next = leading(part);
        text += next.text;
        if (!next.whole) {
          return { text, whole: false };
        }
      }
      return { text, whole: true };
    }
    case 'either': {
      const texts = node.parts.map((part) => leading(part).text);
      return { text: texts.reduce(sharedStart), whole: false };
    }
    case 'group':
      return leading(node.part);
    case 'repeat':
      return node.min === 0 ? nothing : { text: leading(node.part).text, whole: false };
    default:
      return nothing;
  }
}

function sharedStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) {
    length++;
  }
  // Half of a character would be found in nothing that is well-formed.
  return /[\ud800-\udbff]$/.test(a.slice(0, length)) ? a.slice(0, length - 1) : a.slice(0, length);
}

/** The longest text that is in every match; '' for none. */
function required(node: Node): string {
  switch (node.kind) {
    case 'text':
      return node.fold ? '' : node.text;
    case 'concat': {
      let best = '';
      let run = '';
      for (const part of node.parts) {
        const exact = exactly(part);
        run = exact === undefined ? '' : run + exact;
        const found = exact === undefined ? required(part) : run;
        best = found.length > best.length ? found : best;
      }
      return best;
    }
    case 'either': {
      const [first, ...others] = node.parts.map(required);
      return others.every((other) => other === first) ? first! : '';
    }
    case 'group':
      return required(node.part);
    case 'repeat':
      return node.min === 0 ? '' : required(node.part);
    default:
      return '';
  }
}

/** The only text that a node matches, if it is only one. */
function exactly(node: Node): string | undefined {
  switch (node.kind) {
    case 'text':
      return node.fold ? undefined : node.text;
    case 'begin':
    case 'end':
    case 'place':
      return '';
    case 'concat': {
      const texts = node.parts.map(exactly);
      return texts.includes(undefined) ? undefined : texts.join('');
    }
    case 'group':
      return exactly(node.part);
    default:
      return undefined;
  }
}
