import { accountOf } from 'svc/store';

/** Owner of streams whose sender is unknown, such as those that a replay brings back. */
export const nobody = 0;

/** Max senders that are told apart; later ones share the account of nobody. */
const maxSenders = 100_000;

/** Sender with its number of streams. */
export interface StreamHolding {
  readonly sender: string;
  readonly active: number;
}

/** All senders of one account, and their streams together. */
export interface StreamAccount {
  readonly account: string;
  active: number;
  known: number;
}

/**
 * Senders of streams. A stream belongs to whoever sent it first, or sends it first after a restart;
 * a second sender of it does not take it over.
 */
export class StreamOwners {
  readonly #senders: string[] = [''];
  readonly #numbers = new Map<string, number>([['', nobody]]);
  /** Active streams of each owner, and all of its streams. */
  readonly #active: number[] = [0];
  readonly #known: number[] = [0];
  /** Account of each owner. */
  readonly #accounts: StreamAccount[] = [newAccount('')];
  readonly #accountOf = new Map<string, StreamAccount>();

  /** Returns the number of a sender, by which streams belong to it. */
  number(sender: string): number {
    const known = this.#numbers.get(sender);
    if (known !== undefined || this.#senders.length >= maxSenders) {
      return known ?? nobody;
    }
    const number = this.#senders.push(sender) - 1;
    this.#numbers.set(sender, number);
    this.#active.push(0);
    this.#known.push(0);
    const name = accountOf(sender);
    const account = this.#accountOf.get(name) ?? newAccount(name);
    this.#accountOf.set(name, account);
    this.#accounts.push(account);
    return number;
  }

  sender(owner: number): string {
    return this.#senders[owner]!;
  }

  accountOf(owner: number): Readonly<StreamAccount> {
    return this.#accounts[owner]!;
  }

  activeOf(owner: number): number {
    return this.#active[owner]!;
  }

  knownOf(owner: number): number {
    return this.#known[owner]!;
  }

  count(owner: number, change: { readonly active?: 1 | -1; readonly known?: 1 | -1 }): void {
    const { active = 0, known = 0 } = change;
    this.#active[owner]! += active;
    this.#known[owner]! += known;
    const account = this.#accounts[owner]!;
    account.active += active;
    account.known += known;
  }

  /** Returns senders with active streams, those with most of them first. */
  holdings(): StreamHolding[] {
    return this.#senders
      .map((sender, owner) => ({ sender, active: this.#active[owner]! }))
      .slice(1)
      .filter(({ active }) => active > 0)
      .sort((a, b) => b.active - a.active);
  }
}

const newAccount = (account: string): StreamAccount => ({ account, active: 0, known: 0 });
