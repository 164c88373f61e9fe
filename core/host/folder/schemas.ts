/** Why a value does not fit a schema, named as JSON Schema validators name it. */
export interface Misfit {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string | undefined;
  /** The part of the schema that says so. */
  readonly parentSchema?: { readonly examples?: readonly string[] };
}

/** Empty when the value fits. */
type SchemaCheck = (value: unknown) => readonly Misfit[];

/**
 * Checker of values against JSON Schemas. The manager and the agent each have their own: that of an
 * agent is small.
 */
export interface Schemas {
  /** `defaults` puts what a schema declares where a property is missing. */
  compile(schema: object, options?: { readonly defaults?: boolean }): SchemaCheck;
}
