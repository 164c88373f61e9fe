import { below } from '../browser/base.ts';
import { kept, Store, useStore } from '../browser/store.ts';
import { client as text } from '../text/english/client.ts';
import { say } from '../text/words.ts';

export interface User {
  readonly id: number;
  readonly email: string;
  readonly display_name: string;
  readonly role: string;
}

/**
 * Session of the page's user. `unknown` until the first answer; `why` says what ended the session.
 */
export type Session =
  | { readonly state: 'unknown' }
  | { readonly state: 'out'; readonly why?: string }
  | { readonly state: 'in'; readonly user: User };

interface SignedIn {
  readonly access_token: string;
  readonly expires_in: number;
  readonly user: User;
}

/** Why a session has ended: the cookie of the browser became another account's. */
export const otherAccount = 'other-account';

export const session = new Store<Session>({ state: 'unknown' });

/** Returns the signed-in user; there is one wherever a page is shown. */
export function useUser(): User {
  const now = useStore(session);
  return now.state === 'in' ? now.user : { id: 0, email: '', display_name: '', role: '' };
}

/**
 * Access token, in memory only: it is gone with the page, and the cookie that brings another is
 * inaccessible to scripts.
 */
let token: string | undefined;
let renewing: Promise<boolean> | undefined;

export const accessToken = (): string | undefined => token;

/** Says only that a cookie may be there, so that a first visit asks nothing. */
const mark = 'signed-in';

/** Answers with what svc refused, undefined when it did not. */
export async function signIn(
  path: 'login' | 'setup',
  body: object,
): Promise<{ readonly code: string; readonly message: string } | undefined> {
  const answer = await post(path, { ...body, cookie: true });
  if (answer === undefined) {
    return { code: 'silence', message: text.silent };
  }
  const answered = (await answer.json().catch(() => ({}))) as Partial<SignedIn> & {
    error?: string;
    message?: string;
  };
  if (!answer.ok) {
    return {
      code: answered.error ?? 'unknown',
      message: answered.message ?? say(text.status, { status: answer.status }),
    };
  }
  signedIn(answered as SignedIn);
  return undefined;
}

export async function signOut(): Promise<void> {
  await fetch(below('/api/v1/auth/logout'), {
    method: 'POST',
    headers: { authorization: `Bearer ${token ?? ''}` },
  }).catch(() => undefined);
  signedOut();
}

export function signedOut(why?: string): void {
  if (session.value.state === 'out' && session.value.why) {
    // What has ended it is said, and not what was refused thereafter.
    return;
  }
  token = undefined;
  if (why !== otherAccount) {
    kept.write(mark, undefined);
  }
  session.set(why === undefined ? { state: 'out' } : { state: 'out', why });
}

/** Brings a page that was loaded back into its session, by the cookie. */
export async function resume(): Promise<void> {
  if (kept.read(mark) === undefined) {
    session.set({ state: 'out' });
    return;
  }
  if (!(await renew()) && session.value.state === 'unknown') {
    session.set({ state: 'out' });
  }
}

/**
 * Fetches a new access token by the cookie, with one request for all concurrent callers. False if
 * there is none.
 */
export function renew(): Promise<boolean> {
  return (renewing ??= renewed().finally(() => (renewing = undefined)));
}

async function renewed(): Promise<boolean> {
  const answer = await post('refresh', {});
  if (answer === undefined) {
    return false;
  }
  if (!answer.ok) {
    if (answer.status === 401) {
      signedOut();
    }
    return false;
  }
  const fresh = (await answer.json()) as SignedIn;
  const before = session.value;
  if (before.state === 'in' && before.user.id !== fresh.user.id) {
    // The cookie is the browser's: what this page shows, and what it was about to do, is not theirs.
    signedOut(otherAccount);
    return false;
  }
  signedIn(fresh);
  return true;
}

function signedIn({ access_token: fresh, user }: SignedIn): void {
  token = fresh;
  kept.write(mark, '1');
  const before = session.value;
  // The same person again changes nothing on the page.
  if (
    before.state !== 'in' ||
    before.user.id !== user.id ||
    before.user.role !== user.role ||
    before.user.display_name !== user.display_name
  ) {
    session.set({ state: 'in', user });
  }
}

const post = (path: string, body: object): Promise<Response | undefined> =>
  fetch(below(`/api/v1/auth/${path}`), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined);
