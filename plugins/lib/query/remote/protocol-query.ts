import { type TProperties, Type } from 'typebox';

/**
 * Declares one parameter of a foreign protocol: text, read by the engine; of repeated ones the
 * first counts.
 */
export const protocolParameter = (description: string, ...examples: readonly string[]) =>
  Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], {
      description,
      ...(examples.length > 0 && { examples }),
    }),
  );

/** The parameters that an endpoint reads. Clients send others of their own, which it leaves aside. */
export const protocolQuery = <P extends TProperties>(parameters: P) =>
  Type.Object(parameters, { additionalProperties: true });
