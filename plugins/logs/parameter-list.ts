import { errors } from './errors.ts';
import type { ParameterList } from './thread/contract.ts';

const maxParameters = 100;

/** A decoded query as pairs; a name that came several times gives several. */
export const parametersOf = (query: object): ParameterList =>
  Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((text: unknown) => [name, String(text)] as const),
  );

/** A form, as clients send it when a query is too long for an address. */
export function formOf(body: Uint8Array): ParameterList {
  const pairs = [...new URLSearchParams(Buffer.from(body).toString('utf8'))];
  if (pairs.length > maxParameters) {
    throw errors.too_many_parameters({ count: pairs.length, max: maxParameters });
  }
  return pairs;
}
