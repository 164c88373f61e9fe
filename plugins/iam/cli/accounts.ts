import { randomBytes } from 'node:crypto';

import {
  type Call,
  type Option,
  Failure,
  usageFailure,
  type ApiClient,
  printable,
  type Questions,
} from 'svc/cli';

/** An account as `GET /api/v1/users` lists it. */
export interface User {
  readonly id: number;
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
  readonly status: string;
  readonly last_login_at: string | null;
}

/** Caller as in `GET /api/v1/me`. */
export interface Caller {
  /** `operator` is nobody's account. */
  readonly kind: string;
  readonly id: number | string;
}

export const whoAsks = (client: ApiClient): Promise<Caller> => client.get<Caller>('/api/v1/me');

const longestSearch = 200;

/** The account that an e-mail or a number names. */
export async function findUser(client: ApiClient, who: string): Promise<User> {
  if (/^\d+$/.test(who)) {
    return await client.get<User>(`/api/v1/users/${who}`);
  }
  const email = who.trim().normalize('NFC').toLowerCase();
  const alike = await client.list<User>(
    `/api/v1/users?q=${encodeURIComponent(email.slice(0, longestSearch))}`,
  );
  const user = alike.find((other) => other.email === email);
  if (!user) {
    throw new Failure(
      4,
      'not_found',
      `there is no user ${email} that you can see; "svc user list" shows all`,
    );
  }
  return user;
}

export const generateOption: Readonly<Record<'generate', Option>> = {
  generate: { about: 'generate a password and show it once' },
};

/** A password that somebody chose, or one that must be shown to them. */
export interface NewPassword {
  readonly password: string;
  readonly generated: boolean;
}

export async function newPassword(call: Call, questions: Questions): Promise<NewPassword> {
  if (call.has('generate')) {
    return { password: randomBytes(18).toString('base64url'), generated: true };
  }
  const password = await questions.askHidden('New password');
  if (questions.atTerminal && (await questions.askHidden('Repeat password')) !== password) {
    throw usageFailure('the passwords do not match, and nothing was changed: try again');
  }
  return { password, generated: false };
}

/** Returns the password for a result's document, only if nobody else knows it. */
export const shownPassword = ({
  password,
  generated,
}: NewPassword): { readonly password?: string } => (generated ? { password } : {});

export const passwordLine = ({ password, generated }: NewPassword): string =>
  generated ? `\nPassword ${password} (not shown again)` : '';

export const nameOf = ({ email, role, id }: User): string =>
  printable(`${email} (${role}, id ${id})`);
