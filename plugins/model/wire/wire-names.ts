import type { ModelRequest } from 'svc/contracts/model';

/** Names and ids as every provider takes them: tools of letters, digits, `_` and `-`, calls of nine letters and digits. */
export class WireNames {
  readonly #toWire = new Map<string, string>();
  readonly #fromWire = new Map<string, string>();
  readonly #calls = new Map<string, string>();

  constructor({ tools, messages }: Pick<ModelRequest, 'tools' | 'messages'>) {
    tools.forEach(({ name }) => this.#take(name));
    for (const message of messages) {
      if (message.role === 'assistant') {
        message.calls.forEach(({ name, id }) => {
          this.#take(name);
          // By their order, so that a conversation that grows begins as it did before and can be cached.
          this.#calls.set(id, `c${String(this.#calls.size + 1).padStart(8, '0')}`);
        });
      }
    }
  }

  tool(name: string): string {
    return this.#toWire.get(name) ?? name;
  }

  /** Returns the original name; one that nobody offered stays unchanged. */
  original(wire: string): string {
    return this.#fromWire.get(wire) ?? wire;
  }

  call(id: string): string {
    return this.#calls.get(id) ?? id;
  }

  #take(name: string): void {
    if (this.#toWire.has(name)) {
      return;
    }
    const plain = name.replaceAll(/[^\w-]/g, '_').slice(0, 60);
    const free = [
      plain,
      ...Array.from({ length: this.#fromWire.size + 1 }, (_, index) => `${plain}_${index + 2}`),
    ].find((wire) => !this.#fromWire.has(wire))!;
    this.#toWire.set(name, free);
    this.#fromWire.set(free, name);
  }
}
