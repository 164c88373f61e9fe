import { type Misfit, misfits, type Schema } from './small-schema.ts';

/** In the place of the package of that name in the program of an edge: a twentieth of its size, and of what it can. */
export class Ajv {
  /** Plugins that are lent the package find the class where that has it. */
  static readonly Ajv = Ajv;
  readonly #defaults: boolean;

  constructor({ useDefaults = false }: { readonly useDefaults?: boolean } = {}) {
    this.#defaults = useDefaults;
  }

  compile(schema: Schema) {
    const check = Object.assign(
      (value: unknown): boolean => {
        const found = misfits(schema, value, { root: schema, defaults: this.#defaults });
        check.errors = found.length === 0 ? null : found;
        return found.length === 0;
      },
      { errors: null as readonly Misfit[] | null },
    );
    return check;
  }
}

export default Ajv;
