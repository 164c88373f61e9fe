/** Position in the template: an offset; line and column are computed only for an error. */
export interface At {
  readonly at: number;
}

export type Literal = null | boolean | string | number | bigint;

/** Operand of a pipeline. `chain` holds the fields read from it, outermost first. */
export type Operand = At &
  (
    | { readonly kind: 'dot'; readonly chain: readonly string[] }
    | { readonly kind: 'variable'; readonly name: string; readonly chain: readonly string[] }
    | { readonly kind: 'pipeline'; readonly pipeline: Pipeline; readonly chain: readonly string[] }
    | { readonly kind: 'literal'; readonly value: Literal }
    | { readonly kind: 'call'; readonly name: string }
  );

/** A function with its arguments, or a single value. */
export interface Command extends At {
  readonly first: Operand;
  readonly rest: readonly Operand[];
}

export interface Pipeline extends At {
  /** Variables that take the result: declared with `:=`, or set with `=`. */
  readonly targets: readonly string[];
  readonly declares: boolean;
  readonly commands: readonly Command[];
}

export type Node = At &
  (
    | { readonly kind: 'text'; readonly text: string }
    | { readonly kind: 'action'; readonly pipeline: Pipeline }
    | {
        readonly kind: 'if' | 'with' | 'range';
        readonly pipeline: Pipeline;
        readonly body: readonly Node[];
        readonly otherwise: readonly Node[];
      }
    | { readonly kind: 'break' | 'continue' }
  );
