/** Field of an answer that has to come back with it. */
export interface ThoughtBlock {
  readonly field: string;
  readonly value: unknown;
}

interface Delta {
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_details?: readonly Readonly<Record<string, unknown>>[] | null;
}

/** Thoughts of chat completions under the names in which the provider sends them, put together from their pieces. */
export class KeptThoughts {
  #field: string | undefined;
  #text = '';
  readonly #details: Record<string, unknown>[] = [];

  add(
    { reasoning_content: content, reasoning_details: details, ...delta }: Delta,
    words: string,
  ): void {
    if (words !== '') {
      this.#field ??=
        typeof content === 'string'
          ? 'reasoning_content'
          : typeof delta.reasoning === 'string'
            ? 'reasoning'
            : undefined;
      this.#text += words;
    }
    for (const detail of details ?? []) {
      this.#join(detail);
    }
  }

  get blocks(): readonly ThoughtBlock[] | undefined {
    if (this.#details.length > 0) {
      return [{ field: 'reasoning_details', value: this.#details }];
    }
    return this.#field === undefined ? undefined : [{ field: this.#field, value: this.#text }];
  }

  /** Joins a piece to the one that it continues: same kind and place. */
  #join(detail: Readonly<Record<string, unknown>>): void {
    const last = this.#details.at(-1);
    if (
      last === undefined ||
      last['type'] !== detail['type'] ||
      last['index'] !== detail['index'] ||
      detail['type'] === 'reasoning.encrypted'
    ) {
      this.#details.push({ ...detail });
      return;
    }
    for (const [field, value] of Object.entries(detail)) {
      const isText = field === 'text' || field === 'summary';
      const before = last[field];
      last[field] =
        isText && typeof before === 'string' && typeof value === 'string' ? before + value : value;
    }
  }
}
