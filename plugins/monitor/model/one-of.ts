import { Type } from 'typebox';

/** A schema for one of these words. */
export const oneOf = <const T extends string>(values: readonly T[]) =>
  Type.Unsafe<T>({ enum: [...values] });
