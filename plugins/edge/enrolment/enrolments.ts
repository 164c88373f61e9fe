import { createHash } from 'node:crypto';

import type { DeviceDirectory } from 'svc/contracts/device';
import type { EnrolAnswer, EnrolRequest } from 'svc/edge-protocol';
import { oneLine } from 'svc/edge-protocol';
import { parseDuration } from 'svc/query';
import type { SvcError } from 'svc/sdk';
import {
  type Call,
  type Clock,
  covers,
  type Handle,
  type Ids,
  type Page,
  type PageRequest,
  type Settings,
  type Tables,
} from 'svc/sdk';
import { isPublicMachineKey, tunnelPath } from 'svc/tunnel';
import type { Static } from 'typebox';

import { AddressBuckets } from '../connection/address-buckets.ts';
import type { EdgeSecrets } from '../identity/edge-secrets.ts';
import type { Edges } from '../identity/edges.ts';
import { edgeStore } from '../record/edge-store.ts';
import type { EdgeTable } from '../record/edge-table.ts';
import type { EnrolmentDraft, NewEnrolment } from '../record/schema.ts';
import { actorOf, type ShownEnrolment, shownEnrolment } from '../record/shown.ts';
import type { EdgeDb, EdgeRow, EdgeTables } from '../record/tables.ts';
import { enrolmentStore } from './enrolment-store.ts';
import { errors } from './errors.ts';
import { isLoopback } from './install-script.ts';

type Actor = Pick<Call, 'principal' | 'note'>;

export interface EnrolmentParts {
  readonly edges: Pick<Edges, 'insert'>;
  readonly edgeSecrets: Pick<EdgeSecrets, 'renew'>;
  readonly edgeTable: EdgeTable;
  readonly tables: Tables<EdgeTables>;
  readonly settings: Settings;
  readonly devices: Handle<DeviceDirectory>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly build: { readonly publicUrl: string };
}

const prefix = 'svc_enrol_';
const form = /^svc_enrol_[\w-]{43}$/;
const shortestMs = 60_000;
const longestMs = 30 * 86_400_000;
const keptMs = 30 * 86_400_000;

/** Wrong tokens of one address: so many at once, and then one in six seconds. */
const guesses = { burst: 10, perSecond: 1 / 6 };

const invalidToken = (): SvcError => errors.enrolment_token();

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

/** Bounded, expiring tokens, so that one line brings many machines. */
export class Enrolments {
  readonly #parts: EnrolmentParts;
  readonly #guesses: AddressBuckets;

  constructor(parts: EnrolmentParts) {
    this.#parts = parts;
    this.#guesses = new AddressBuckets(parts.clock, () => guesses.burst);
  }

  async create(
    by: Actor,
    draft: Static<typeof EnrolmentDraft>,
  ): Promise<Static<typeof NewEnrolment>> {
    const { tables, clock, ids } = this.#parts;
    const {
      name = 'enrolment',
      max_uses: most = 1,
      expires_in: span = '1h',
      labels = {},
      device_id: device = null,
    } = draft;
    const ms = parseDuration(span);
    if (ms < shortestMs || ms > longestMs) {
      throw errors.expires_in({ details: [{ path: '/expires_in', message: 'is from 1m to 30d' }] });
    }
    await this.#assertMayGive(by, device, most);
    const token = prefix + ids.token(32);
    const now = clock.now();
    const row = await tables.write(async (tx) => {
      const made = await enrolmentStore(tx).insert({
        name: name.trim(),
        token_hash: digest(token),
        labels: JSON.stringify(labels),
        device_id: device,
        max_uses: most,
        uses: 0,
        expires_at: now + ms,
        revoked_at: null,
        created_by: actorOf(by.principal),
        created_at: now,
      });
      by.note({
        resourceType: 'edge_enrolment',
        resourceId: made.id,
        after: shownEnrolment(made, now),
      });
      return made;
    });
    return { ...shownEnrolment(row, now), token, ...this.#lines(token) };
  }

  /** A device goes to one machine, and by the word of who may give it away. */
  async #assertMayGive({ principal }: Actor, device: number | null, most: number): Promise<void> {
    if (device === null) {
      return;
    }
    if (!principal.grants.some((grant) => covers(grant, 'device:accept'))) {
      throw errors.takes_device();
    }
    if (most !== 1) {
      throw errors.one_machine({
        details: [{ path: '/max_uses', message: 'is 1 with a device_id' }],
      });
    }
    if ((await this.#parts.devices.get().get(device)) === undefined) {
      throw errors.no_device({ device });
    }
  }

  async list(page: PageRequest): Promise<Page<ShownEnrolment>> {
    const { tables, clock } = this.#parts;
    const { items, ...rest } = await enrolmentStore(tables.read).list(page);
    return { ...rest, items: items.map((row) => shownEnrolment(row, clock.now())) };
  }

  async revoke(by: Actor, id: number): Promise<void> {
    const { tables, clock } = this.#parts;
    await tables.write(async (tx) => {
      const before = await enrolmentStore(tx).find(id);
      if (!before) {
        throw errors.no_enrolment({ id });
      }
      const after =
        before.revoked_at === null ? await enrolmentStore(tx).revoke(id, clock.now()) : before;
      by.note({
        resourceType: 'edge_enrolment',
        resourceId: id,
        before: shownEnrolment(before, clock.now()),
        after: shownEnrolment(after, clock.now()),
      });
    });
  }

  /** A machine shows a token; nothing else vouches for it. */
  async enrol(call: Pick<Call, 'ip' | 'note'>, request: EnrolRequest): Promise<EnrolAnswer> {
    const { edgeTable, tables } = this.#parts;
    this.#assertMayGuess(call.ip);
    // What can be asked together is: a fleet enrols at the pace at which statements follow each other.
    const shown = form.test(request.token)
      ? await enrolmentStore(tables.read).byHash(digest(request.token))
      : undefined;
    const made = await (shown && tables.write((tx) => this.#spend(tx, call, shown.id, request)));
    if (!made) {
      this.#guesses.of(call.ip).spend(1);
      // The same words for a token that never was.
      throw invalidToken();
    }
    await edgeTable.reload(made.row.id);
    return {
      edge_id: made.row.id,
      name: made.row.name,
      access_key: made.row.access_key,
      secret_key: made.secretKey,
      tunnel_path: tunnelPath,
    };
  }

  async purge(): Promise<void> {
    const { tables, clock } = this.#parts;
    await tables.write((tx) => enrolmentStore(tx).purge(clock.now() - keptMs));
  }

  /** Undefined when the enrolment takes no machine any more. */
  async #spend(
    tx: EdgeDb,
    call: Pick<Call, 'note'>,
    enrolmentId: number,
    request: EnrolRequest,
  ): Promise<{ readonly row: EdgeRow; readonly secretKey: string } | undefined> {
    const { edges, edgeSecrets, edgeTable, clock } = this.#parts;
    const machine = request.machine_uuid.toLowerCase();
    const machineKey = request.machine_key ?? null;
    if (machineKey !== null && !isPublicMachineKey(machineKey)) {
      throw errors.machine_key({
        details: [{ path: '/machine_key', message: 'is not an ed25519 key' }],
      });
    }
    const [enrolment, again] = await Promise.all([
      enrolmentStore(tx).find(enrolmentId),
      edgeStore(tx).enrolledFrom(enrolmentId, machine),
    ]);
    if (!enrolment || enrolment.revoked_at !== null || enrolment.expires_at <= clock.now()) {
      return undefined;
    }
    // Its answer was lost, perhaps: the same machine gets the same edge, as long as that has never connected.
    if (
      again &&
      again.machine_key === machineKey &&
      edgeTable.byId(again.id)?.lastRegisteredAt === null
    ) {
      call.note({
        resourceType: 'edge',
        resourceId: again.id,
        after: { enrolment_id: enrolment.id, machine_uuid: machine },
      });
      return { row: again, secretKey: await edgeSecrets.renew(tx, again.id) };
    }
    if (enrolment.uses >= enrolment.max_uses) {
      return undefined;
    }
    const name = oneLine(request.hostname, 200) || `machine ${machine.slice(0, 8)}`;
    const [made] = await Promise.all([
      edges.insert(tx, {
        name,
        description: '',
        labels: JSON.parse(enrolment.labels) as object,
        createdBy: `enrolment ${enrolment.id}`,
        enrolment: { id: enrolment.id, machine, machineKey, takesDevice: enrolment.device_id },
      }),
      enrolmentStore(tx).spend(enrolment.id),
    ]);
    call.note({
      resourceType: 'edge',
      resourceId: made.row.id,
      after: { name, enrolment_id: enrolment.id, machine_uuid: machine },
    });
    return made;
  }

  #assertMayGuess(ip: string): void {
    const wait = this.#guesses
      .of(ip)
      .wait(guesses.perSecond, guesses.burst, this.#parts.clock.monotonic());
    if (wait > 0) {
      const retryAfterSeconds = Math.ceil(wait);
      throw errors.too_many_attempts({ retryAfterSeconds }, { retryAfterSeconds });
    }
  }

  /** Throws unauthorized unless this is a token that still takes a machine. */
  async assertOpen(ip: string, token: string | undefined): Promise<void> {
    this.#assertMayGuess(ip);
    const { tables, clock } = this.#parts;
    const row =
      token !== undefined && form.test(token)
        ? await enrolmentStore(tables.read).byHash(digest(token))
        : undefined;
    if (!row || shownEnrolment(row, clock.now()).status !== 'open') {
      this.#guesses.of(ip).spend(1);
      throw invalidToken();
    }
  }

  #lines(
    token: string,
  ): Pick<Static<typeof NewEnrolment>, 'install_command' | 'script_command' | 'advice'> {
    const { settings, build } = this.#parts;
    const manager = new URL(build.publicUrl).href.replace(/\/+$/, '');
    // `sha256//…` of the key that serves the public URL.
    const pin = settings.get<string>('edge.pin');
    const line = [
      'svc edge install',
      `--manager ${manager}`,
      `--token ${token}`,
      ...(pin === '' ? [] : [`--pin ${pin}`]),
    ].join(' ');
    if (isLoopback(manager)) {
      return {
        install_command: line,
        script_command: null,
        advice: `${manager} is this machine alone: set SVC_PUBLIC_URL to its address for others`,
      };
    }
    const fetched = [
      'curl -fsSL',
      ...(pin === '' ? [] : [`-k --pinnedpubkey ${pin}`]),
      `${manager}/install.sh`,
    ].join(' ');
    const plain = manager.startsWith('https:')
      ? null
      : 'without TLS a stranger on the way can put another program, or manager, in the place of yours';
    return {
      install_command: line,
      script_command: `${fetched} | sudo sh -s -- --token ${token}`,
      advice: plain,
    };
  }
}
