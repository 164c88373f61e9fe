/**
 * A function a template may call. It gets plain values (see values.ts) and answers one; what it throws ends the rendering with its message.
 * `room` is how long a text it makes may be.
 */
export interface TemplateFunction {
  /** How many arguments, at least and at most; the piped one counts. */
  readonly takes: readonly [least: number, most: number];
  call(args: readonly unknown[], room: number): unknown;
}

export function templateFunction(
  least: number,
  most: number,
  call: TemplateFunction['call'],
): TemplateFunction {
  return { takes: [least, most], call };
}
