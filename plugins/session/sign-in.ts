import { type Settings, SvcError } from 'svc/sdk';

import type { AccountTimes, DirectoryContract, PasswordsContract, Person } from '../iam/contract.ts';
import type { Client } from './client.ts';
import type { Known, Sessions, SignedIn } from './sessions.ts';
import type { SetupToken } from './setup-token.ts';
import type { Throttle } from './throttle.ts';

export interface NewAccount {
  readonly email: string;
  readonly password: string;
  readonly display_name?: string;
}

/** Tells the audit trail which account a call made. */
export type Made = (id: number) => void;

/** The ways in for somebody who has nothing but a password or the set-up token. */
export interface SignIn {
  login(email: string, password: string, client: Client, known: Known): Promise<SignedIn>;
  register(account: NewAccount, client: Client, made: Made): Promise<{ readonly person: Person; readonly times: AccountTimes }>;
  /** Makes the first administrator and signs them in. */
  setUp(token: string, account: NewAccount, client: Client, made: Made): Promise<SignedIn>;
}

export interface SignInParts {
  readonly directory: DirectoryContract;
  readonly passwords: PasswordsContract;
  readonly sessions: Sessions;
  readonly throttle: Throttle;
  readonly setupToken: SetupToken;
  readonly settings: Settings;
}

export function createSignIn({ directory, passwords, sessions, throttle, setupToken, settings }: SignInParts): SignIn {
  return {
    async login(typed, password, client, known) {
      const email = normal(typed);
      const attempt = throttle.begin(email, client.ip);
      const person = await passwords.verify(email, password).catch((error: unknown) => {
        attempt.dropped();
        throw error;
      });
      if (!person) {
        attempt.failed();
        throw new SvcError('unauthorized', 'the e-mail or the password is not right, or the account is disabled');
      }
      attempt.succeeded();
      return await sessions.open(person, client, known);
    },

    async register(account, client, made) {
      if (settings.get<'open' | 'closed'>('auth.registration') !== 'open') {
        throw new SvcError('forbidden', 'registration is closed: ask an administrator for an account, or let one set auth.registration to open');
      }
      throttle.register(client.ip);
      const person = await directory.create(wish(account, 'viewer'), undefined, ({ id }) => made(id));
      return { person, times: await directory.timesOf(person.id) };
    },

    async setUp(token, account, client, made) {
      await setupToken.assert(token);
      const person = await directory.create(wish(account, 'admin'), undefined, async ({ id }) => {
        made(id);
        await setupToken.spend(token);
      });
      await setupToken.settle();
      return await sessions.open(person, client, () => undefined);
    },
  };
}

/** As accounts are found by it: one spelling more would be ten guesses more. */
const normal = (email: string): string => email.trim().normalize('NFC').toLowerCase();

function wish({ email: typed, password, display_name: name }: NewAccount, role: string) {
  const email = normal(typed);
  return { email, password, role, display_name: name ?? email.slice(0, email.indexOf('@')) };
}
