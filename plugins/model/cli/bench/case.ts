/** Statement that an answer is checked for. */
export type Fact =
  /** Regular expression, case ignored. */
  | string
  /** Any of these. */
  | { readonly any: readonly Fact[]; readonly means?: string }
  /** A number in the answer, within a tolerance; `unit` is an expression that follows it. */
  | {
      readonly number: number;
      readonly within?: number;
      readonly unit?: string;
      readonly means?: string;
    };

/** Call of a tool, by its name and arguments. */
export type Step = readonly [tool: string, args: Readonly<Record<string, unknown>>];

/** Answer of a tool that the bench provides; `when` are expressions for its arguments. */
export interface ToolAnswer {
  readonly tool: string;
  readonly when?: Readonly<Record<string, string>>;
  /** Lines of text, or a value. */
  readonly answer: unknown;
}

/** Change that the case is about: who decides what, and how often the tool may run. */
export interface ExpectedChange {
  readonly tool: string;
  readonly decision: 'approve' | 'deny' | 'wait';
  readonly ran: number;
}

/** One question to agents, what they may use, and how the answer is scored. */
export interface Case {
  readonly id: string;
  /** Group in the table. */
  readonly subject: string;
  readonly world: string;
  readonly question: string;
  /** Persona to ask; default: the one that routing chooses. */
  readonly agent?: string;
  /** Key of the rule whose incident the question is about; `{incident}` is replaced by its number. */
  readonly incident?: string;
  /** The only tools that may be called; default: those of the persona and of the world. */
  readonly tools?: readonly string[];
  readonly budget?: { readonly turns?: number; readonly calls?: number; readonly tokens?: number };
  readonly must?: readonly Fact[];
  readonly must_not?: readonly Fact[];
  /** The right answer is that it cannot be known from here. */
  readonly unknown?: boolean;
  readonly change?: ExpectedChange;
  /** Tools that must not be executed, whoever asks for it. */
  readonly never?: readonly string[];
  readonly answers?: readonly ToolAnswer[];
  /** Calls that lead to the facts. The scripted model makes them; nothing else reads them. */
  readonly walk?: readonly Step[];
}

const known: ReadonlySet<string> = new Set<keyof Case>([
  'id',
  'subject',
  'world',
  'question',
  'agent',
  'incident',
  'tools',
  'budget',
  'must',
  'must_not',
  'unknown',
  'change',
  'never',
  'answers',
  'walk',
]);

/** Returns the cases of a document; throws a sentence that says which one is wrong. */
export function casesOf(value: unknown, place: string): readonly Case[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`${place} is not a list of cases`);
  }
  return value.map((one: unknown, at) => caseOf(one, `${place}, case ${at + 1}`));
}

function caseOf(value: unknown, place: string): Case {
  if (typeof value !== 'object' || value === null) {
    throw new TypeError(`${place} is not an object`);
  }
  const unknown = Object.keys(value).find((field) => !known.has(field));
  if (unknown !== undefined) {
    throw new TypeError(`${place} has the unknown field "${unknown}"`);
  }
  const found = value as Case;
  const missing = (['id', 'subject', 'world', 'question'] as const).find(
    (field) => typeof found[field] !== 'string' || found[field] === '',
  );
  if (missing !== undefined) {
    throw new TypeError(`${place} has no "${missing}"`);
  }
  if ((found.must ?? []).length === 0 && found.unknown !== true && found.change === undefined) {
    throw new TypeError(`${place} (${found.id}) has nothing to check: add "must" or "unknown"`);
  }
  return found;
}
