import type { ModelPart } from 'svc/contracts/model';
import { parseForeignJson } from 'svc/sdk';

interface Piece {
  /** Id assigned by the provider: distinguishes its calls, and is not passed on. */
  readonly id: string | undefined;
  readonly name: string;
  text: string;
}

/** Calls of tools, put together from the pieces in which they come. */
export class CallPieces {
  readonly #calls: Piece[] = [];
  /** Calls by the index that the provider assigns. */
  readonly #places = new Map<number, number>();
  readonly #nameOf: (wire: string) => string;

  constructor(nameOf: (wire: string) => string) {
    this.#nameOf = nameOf;
  }

  get any(): boolean {
    return this.#calls.length > 0;
  }

  /**
   * Adds one piece. Providers have been seen to give two calls the same index; a name and another
   * id begin a new call.
   */
  add(
    place: number | undefined,
    {
      id,
      name,
      text,
    }: {
      readonly id?: string | undefined;
      readonly name?: string | undefined;
      readonly text: string;
    },
  ): ModelPart[] {
    const known =
      place === undefined ? (name ? undefined : this.#calls.length - 1) : this.#places.get(place);
    const isNew =
      known === undefined ||
      known < 0 ||
      (name !== undefined && name !== '' && id !== undefined && id !== this.#calls[known]!.id);
    const index = isNew ? this.#calls.length : known;
    if (isNew) {
      this.#calls.push({ id, name: this.#nameOf(name ?? ''), text: '' });
      this.#places.set(place ?? index, index);
    }
    const call = this.#calls[index]!;
    call.text += text;
    return [
      ...(isNew ? [{ type: 'call-start', index, name: call.name } as const] : []),
      ...(text === '' ? [] : [{ type: 'call-delta', index, delta: text } as const]),
    ];
  }

  /** All of them, once nothing more comes. */
  whole(): ModelPart[] {
    return this.#calls.map(({ name, text }, index) => ({
      type: 'call',
      index,
      name,
      args: objectIn(text),
      text,
    }));
  }
}

/** Parses a JSON object; undefined if it is invalid. An empty text means no arguments. */
function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  if (text.trim() === '') {
    return {};
  }
  try {
    const value = parseForeignJson(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
