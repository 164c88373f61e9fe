import type { DirectoryContract, PasswordsContract, Person } from 'svc/contracts/iam';
import { type AuditRecord, type AuditTrailContract, type Clock, SvcError } from 'svc/sdk';

/** A clock that stands still until it is moved. */
export interface MovableClock extends Clock {
  move(ms: number): void;
}

export function movableClock(start = Date.UTC(2026, 0, 2, 3, 4, 5)): MovableClock {
  let moved = 0;
  return {
    now: () => start + moved,
    monotonic: () => 1_000_000 + moved,
    move: (ms) => void (moved += ms),
  };
}

/** Accounts in memory, as the session plugins see them through the contract. */
export interface People {
  readonly directory: DirectoryContract;
  readonly passwords: PasswordsContract;
  /** E-mails that were checked against a password, in order. */
  readonly checked: string[];
  add(person: Partial<Person> & { readonly email: string }, password?: string): Person;
  /** A change that ends sessions, unless it is one of grants or organizations only. */
  change(id: number, change: Partial<Person>): void;
  remove(id: number): void;
}

const grantsByRole: Readonly<Record<string, readonly string[]>> = {
  admin: ['*'],
  user: ['lamp:*'],
  viewer: [],
};

export function people(): People {
  const all = new Map<number, Person>();
  const secrets = new Map<string, string>();
  const checked: string[] = [];
  const logins = new Map<number, number>();

  function add(
    { email, ...rest }: Partial<Person> & { readonly email: string },
    password = 'correct horse',
  ): Person {
    const role = rest.role ?? 'user';
    const orgs = role === 'admin' ? undefined : [1];
    const person: Person = {
      id: all.size + 1,
      email,
      display_name: email,
      role,
      status: 'active',
      version: 1,
      selectors: undefined,
      grants: grantsByRole[role] ?? [],
      orgs,
      ...rest,
    };
    all.set(person.id, person);
    secrets.set(email, password);
    return person;
  }

  return {
    checked,
    add,
    change(id, change) {
      const person = all.get(id)!;
      const ends = 'role' in change || 'status' in change || 'version' in change;
      all.set(id, {
        ...person,
        ...change,
        ...(change.role && { grants: grantsByRole[change.role]! }),
        version: person.version + (ends ? 1 : 0),
      });
    },
    remove: (id) => void all.delete(id),
    directory: {
      live(id) {
        const person = all.get(id);
        return person?.status === 'active' ? person : undefined;
      },
      nameOf: async (id) => all.get(id),
      timesOf: async (id) => ({
        created_at: id,
        updated_at: id,
        last_login_at: logins.get(id) ?? null,
      }),
      async create({ email, password, display_name, role }, _createdBy, along) {
        if (secrets.has(email)) {
          throw new SvcError('conflict', `${email} has an account already`);
        }
        if (password.length < 10) {
          throw new SvcError('invalid_argument', 'the password must have at least 10 characters');
        }
        await along?.({ id: all.size + 1, email });
        return add({ email, display_name, role }, password);
      },
      hasAdmin: async () =>
        [...all.values()].some(({ role, status }) => role === 'admin' && status === 'active'),
      narrows: () => false,
      grantsOf: (role) => grantsByRole[role] ?? [],
      noteLogin: async (id) => void logins.set(id, Date.UTC(2026, 0, 1)),
    },
    passwords: {
      async verify(email, password) {
        checked.push(email);
        const person = [...all.values()].find((candidate) => candidate.email === email);
        return person?.status === 'active' && secrets.get(email) === password ? person : undefined;
      },
    },
  };
}

/** Two checks at a time, twenty that wait, and a refusal for the rest. */
export function queued(passwords: PasswordsContract): PasswordsContract {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    async verify(email, password) {
      if (running >= 2 && waiting.length >= 20) {
        throw new SvcError('rate_limited', 'too many logins at once; try again in a moment', {
          retryAfterSeconds: 2,
        });
      }
      if (running >= 2) {
        await new Promise<void>((go) => waiting.push(go));
      } else {
        running += 1;
      }
      try {
        return await passwords.verify(email, password);
      } finally {
        // Whoever waited longest takes over this place.
        const next = waiting.shift();
        if (next) {
          next();
        } else {
          running -= 1;
        }
      }
    },
  };
}

/** A trail that can be looked at. */
export function trail(): AuditTrailContract & { readonly rows: AuditRecord[] } {
  const rows: AuditRecord[] = [];
  return { rows, append: async (_tx, record) => void rows.push(record) };
}
