import type { ConfigApply } from 'svc/edge-protocol';
import type { Settings } from 'svc/sdk';

export type Told = NonNullable<ConfigApply['managers']>;

/** Addresses of this manager that edges are told, so that they turn to another one when theirs fails. */
export class ManagerAddresses {
  readonly #settings: Settings;
  #known: Told = [];

  constructor(settings: Settings) {
    this.#settings = settings;
    this.refresh();
  }

  all(): Told {
    return this.#known;
  }

  /** Looks again; true when the addresses have changed. */
  refresh(): boolean {
    const next = this.#settings.get<readonly string[]>('edge.addresses').map(addressOf);
    const isChanged = JSON.stringify(next) !== JSON.stringify(this.#known);
    this.#known = next;
    return isChanged;
  }
}

/** `https://svc-2.example.org sha256//…` as people write it. */
function addressOf(text: string): Told[number] {
  const [url = '', pin] = text.split(' ');
  return { url, ...(pin !== undefined && { pin: pin.replace('sha256//', 'sha256/') }) };
}
