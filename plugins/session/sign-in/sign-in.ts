import type { AccountTimes, DirectoryContract, PasswordsContract, Person } from 'svc/contracts/iam';
import type { Settings } from 'svc/sdk';

import type { Client } from '../sessions/client.ts';
import type { Known } from '../sessions/rotation.ts';
import type { Sessions, SignedIn } from '../sessions/sessions.ts';
import { errors } from './errors.ts';
import type { SetupToken } from './setup-token.ts';
import type { Throttle } from './throttle.ts';

export interface NewAccount {
  readonly email: string;
  readonly password: string;
  readonly display_name?: string;
}

/** Tells the audit trail which account a call made. */
export type Made = (id: number) => void;

export interface SignInParts {
  readonly directory: DirectoryContract;
  readonly passwords: PasswordsContract;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  readonly setupToken: SetupToken;
  readonly settings: Settings;
}

/** The ways in without a session: a password, or the set-up token. */
export class SignIn {
  readonly #parts: SignInParts;

  constructor(parts: SignInParts) {
    this.#parts = parts;
  }

  async login(typed: string, password: string, client: Client, known: Known): Promise<SignedIn> {
    const { passwords, sessions, throttle } = this.#parts;
    const email = normal(typed);
    const attempt = throttle.begin(email, client.ip);
    const person = await passwords.verify(email, password).catch((error: unknown) => {
      attempt.dropped();
      throw error;
    });
    if (!person) {
      attempt.failed();
      throw errors.wrong_credentials();
    }
    attempt.succeeded();
    return await sessions.open(person, client, known);
  }

  async register(
    account: NewAccount,
    client: Client,
    made: Made,
  ): Promise<{ readonly person: Person; readonly times: AccountTimes }> {
    const { directory, throttle, settings } = this.#parts;
    if (settings.get<'open' | 'closed'>('auth.registration') !== 'open') {
      throw errors.registration_closed();
    }
    throttle.register(client.ip);
    const person = await directory.create(wish(account, 'viewer'), undefined, ({ id }) => made(id));
    return { person, times: await directory.timesOf(person.id) };
  }

  /** Makes the first administrator and signs them in. */
  async setUp(token: string, account: NewAccount, client: Client, made: Made): Promise<SignedIn> {
    const { directory, sessions, setupToken } = this.#parts;
    await setupToken.assert(token);
    const person = await directory.create(wish(account, 'admin'), undefined, async ({ id }) => {
      made(id);
      await setupToken.spend(token);
    });
    await setupToken.settle();
    return await sessions.open(person, client, () => undefined);
  }
}

/** Normalizes an e-mail as accounts do: one more accepted spelling would allow ten more guesses. */
const normal = (email: string): string => email.trim().normalize('NFC').toLowerCase();

function wish({ email: typed, password, display_name: name }: NewAccount, role: string) {
  const email = normal(typed);
  return { email, password, role, display_name: name ?? email.slice(0, email.indexOf('@')) };
}
