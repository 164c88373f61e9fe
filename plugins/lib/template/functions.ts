/**
 * Function that a template may call. It takes plain values (see values.ts) and returns one; an
 * error ends the rendering with its message. `room` is the max length of its result.
 */
export interface TemplateFunction {
  /** Min and max number of arguments; the piped one counts. */
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
