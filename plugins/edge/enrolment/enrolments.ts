import { createHash } from 'node:crypto';

import { oneLine } from 'svc/probe';
import { type Call, type Clock, type Ids, type Page, type PageRequest, SvcError, type Tables } from 'svc/sdk';
import { parseDuration } from 'svc/query';
import { tunnelPath } from 'svc/tunnel';
import type { Static } from 'typebox';

import type { EnrolAnswer, EnrolRequest } from '../contract.ts';
import { actorOf, type Edges } from '../edges.ts';
import { edgeStore } from '../edge-store.ts';
import { enrolmentStore } from './enrolment-store.ts';
import { networkOf } from '../connection/handshake-limits.ts';
import type { Roll } from '../edge-table.ts';
import type { EnrolmentDraft, NewEnrolment } from '../schema.ts';
import { type ShownEnrolment, shownEnrolment } from '../shown.ts';
import type { EdgeTables } from '../tables.ts';
import { TokenBucket } from '../connection/token-bucket.ts';

type By = Pick<Call, 'principal' | 'note'>;

/** Bounded, expiring tokens, so that one line brings many machines. */
export interface Enrolments {
  create(by: By, draft: Static<typeof EnrolmentDraft>): Promise<Static<typeof NewEnrolment>>;
  list(page: PageRequest): Promise<Page<ShownEnrolment>>;
  revoke(by: By, id: number): Promise<void>;
  /** A machine shows a token; nobody vouches for it but that. */
  enrol(call: Pick<Call, 'ip' | 'note'>, request: EnrolRequest): Promise<EnrolAnswer>;
  purge(): Promise<void>;
}

export interface EnrolmentParts {
  readonly edges: Edges;
  readonly roll: Roll;
  readonly tables: Tables<EdgeTables>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly publicUrl: () => string;
  /** `sha256//…` of the key that serves `publicUrl`; empty: no pin. */
  readonly pin: () => string;
}

const prefix = 'svc_enrol_';
const form = /^svc_enrol_[\w-]{43}$/;
const shortestMs = 60_000;
const longestMs = 30 * 86_400_000;
const keptMs = 30 * 86_400_000;
const mostAddresses = 10_000;
/** Wrong tokens of one address: so many at once, and then one in six seconds. */
const guesses = { burst: 10, perSecond: 1 / 6 };

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

export function createEnrolments({ edges, roll, tables, clock, ids, publicUrl, pin }: EnrolmentParts): Enrolments {
  const { read, write } = tables;
  const guessers = new Map<string, TokenBucket>();

  function bucketOf(ip: string): TokenBucket {
    const place = networkOf(ip);
    const bucket = guessers.get(place) ?? new TokenBucket(guesses.burst, clock.monotonic());
    guessers.delete(place);
    if (guessers.size >= mostAddresses) {
      guessers.delete(guessers.keys().next().value!);
    }
    guessers.set(place, bucket);
    return bucket;
  }

  const installCommand = (token: string): string =>
    ['svc edge install', `--manager ${publicUrl()}`, `--token ${token}`, ...(pin() === '' ? [] : [`--pin ${pin()}`])].join(' ');

  return {
    async create(by, { name = 'enrolment', max_uses: most = 1, expires_in: span = '1h', labels = {} }) {
      const ms = parseDuration(span);
      if (ms < shortestMs || ms > longestMs) {
        throw new SvcError('invalid_argument', 'expires_in is from 1m to 30d', { details: [{ path: '/expires_in', message: 'is from 1m to 30d' }] });
      }
      const token = prefix + ids.token(32);
      const now = clock.now();
      const row = await write(async (tx) => {
        const made = await enrolmentStore(tx).insert({
          ...{ name: name.trim(), token_hash: digest(token), labels: JSON.stringify(labels), max_uses: most, uses: 0 },
          ...{ expires_at: now + ms, revoked_at: null, created_by: actorOf(by.principal), created_at: now },
        });
        by.note({ resourceType: 'edge_enrolment', resourceId: made.id, after: shownEnrolment(made, now) });
        return made;
      });
      return { ...shownEnrolment(row, now), token, install_command: installCommand(token) };
    },

    async list(page) {
      const { items, ...rest } = await enrolmentStore(read).list(page);
      return { ...rest, items: items.map((row) => shownEnrolment(row, clock.now())) };
    },

    async revoke(by, id) {
      await write(async (tx) => {
        const before = await enrolmentStore(tx).find(id);
        if (!before) {
          throw new SvcError('not_found', `there is no enrolment ${id}`);
        }
        const after = before.revoked_at === null ? await enrolmentStore(tx).revoke(id, clock.now()) : before;
        by.note({ resourceType: 'edge_enrolment', resourceId: id, before: shownEnrolment(before, clock.now()), after: shownEnrolment(after, clock.now()) });
      });
    },

    async enrol(call, request) {
      const guesser = bucketOf(call.ip);
      const wait = guesser.wait(guesses.perSecond, guesses.burst, clock.monotonic());
      if (wait > 0) {
        const retryAfterSeconds = Math.ceil(wait);
        throw new SvcError('rate_limited', `too many wrong tokens from this address; try again in ${retryAfterSeconds} s`, { retryAfterSeconds });
      }
      const machine = request.machine_uuid.toLowerCase();
      // What can be asked together is: a fleet enrols at the pace at which statements follow each other.
      const shown = form.test(request.token) ? await enrolmentStore(read).byHash(digest(request.token)) : undefined;
      const made = await (shown &&
        write(async (tx) => {
          const [enrolment, again] = await Promise.all([enrolmentStore(tx).find(shown.id), edgeStore(tx).enrolledFrom(shown.id, machine)]);
          if (!enrolment || enrolment.revoked_at !== null || enrolment.expires_at <= clock.now()) {
            return undefined;
          }
          // Its answer was lost, perhaps: the same machine gets the same edge, as long as that has never connected.
          if (again && roll.byId(again.id)?.lastRegisteredAt === null) {
            call.note({ resourceType: 'edge', resourceId: again.id, after: { enrolment_id: enrolment.id, machine_uuid: machine } });
            return { row: again, secretKey: await edges.renew(tx, again.id) };
          }
          if (enrolment.uses >= enrolment.max_uses) {
            return undefined;
          }
          const name = oneLine(request.hostname, 200) || `machine ${machine.slice(0, 8)}`;
          const [result] = await Promise.all([
            edges.insert(tx, {
              ...{ name, description: '', labels: JSON.parse(enrolment.labels) as object },
              ...{ createdBy: `enrolment ${enrolment.id}`, enrolment: { id: enrolment.id, machine } },
            }),
            enrolmentStore(tx).spend(enrolment.id),
          ]);
          call.note({ resourceType: 'edge', resourceId: result.row.id, after: { name, enrolment_id: enrolment.id, machine_uuid: machine } });
          return result;
        }));
      if (!made) {
        guesser.spend(1);
        // The same words for a token that never was.
        throw new SvcError('unauthorized', 'the enrolment token is not valid: it is unknown, used up, expired or revoked; make a new one at the manager');
      }
      await edges.admit(made.row.id);
      return { edge_id: made.row.id, name: made.row.name, access_key: made.row.access_key, secret_key: made.secretKey, tunnel_path: tunnelPath };
    },

    purge: () => write((tx) => enrolmentStore(tx).purge(clock.now() - keptMs)),
  };
}
