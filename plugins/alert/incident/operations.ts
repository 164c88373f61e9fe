import type { SeenBy } from 'svc/query';
import type { Call, Clock } from 'svc/sdk';
import type { Static } from 'typebox';

import { durationOf } from '../rule/duration.ts';
import type { NameOfDevice } from '../template/rendering.ts';
import { errors } from './errors.ts';
import { review, type GateInputs } from './gates/review.ts';
import { remindAfterSilence } from './gates/sweep.ts';
import { shownNow } from './incident-routes.ts';
import type { IncidentStore } from './incident-store.ts';
import type { InstanceReader } from './instance-reader.ts';
import { actorOf } from './ledger/actor.ts';
import type { Draft } from './ledger/draft.ts';
import { type Actor, type Incident, isUnnotified } from './ledger/incident.ts';
import type { Ledger } from './ledger/ledger.ts';
import { assertOfOneDevice } from './ledger/seen-incidents.ts';
import {
  acknowledge,
  endingOf,
  resolve,
  silence,
  type Step,
  unsilence,
} from './ledger/transitions.ts';
import type { IncidentItem, SilenceFor } from './schema.ts';

type Item = Static<typeof IncidentItem>;
type Change = Pick<Call, 'principal' | 'note'>;

export interface OperationParts {
  readonly ledger: Ledger;
  readonly store: Pick<IncidentStore, 'get'>;
  readonly seenBy: SeenBy;
  readonly instances: Pick<InstanceReader, 'staleSince'>;
  readonly clock: Clock;
  readonly gateInputs: () => GateInputs;
  readonly nameOf: NameOfDevice;
}

const longestSilenceMs = 720 * 3_600_000;

/** User actions on incidents. */
export class Operations {
  readonly #parts: OperationParts;

  constructor(parts: OperationParts) {
    this.#parts = parts;
  }

  acknowledge(id: number, note: string | undefined, change: Change): Promise<Item> {
    return this.#change(
      id,
      change,
      (incident, actor, now) => acknowledge(incident, actor, note, now),
      // Platforms that keep incidents of their own stop paging.
      (draft, incident) => draft.addNotice('reminder', incident),
    );
  }

  silence(id: number, asked: Static<typeof SilenceFor>, change: Change): Promise<Item> {
    return this.#change(id, change, (incident, actor, now) =>
      silence(incident, actor, untilOf(asked, now), asked.reason, now),
    );
  }

  unsilence(id: number, change: Change): Promise<Item> {
    return this.#change(
      id,
      change,
      (incident, actor, now) => unsilence(incident, actor, 'silence_ended', now),
      (draft, incident) => {
        const gateInputs = this.#parts.gateInputs();
        remindAfterSilence(draft, incident, gateInputs);
        review(draft, [incident.dedupe_key], gateInputs);
      },
    );
  }

  resolve(id: number, note: string | undefined, change: Change): Promise<Item> {
    return this.#change(
      id,
      change,
      (incident, actor, now) => resolve(incident, actor, 'by_user', note, now),
      (draft, incident) => {
        if (!isUnnotified(incident)) {
          draft.addNotice('resolved', incident, {
            because: endingOf('by_user', actorOf(change.principal)),
          });
        }
        // While its condition lasts it must not fire at once again: that is for the cooldown to end, or a full clear cycle.
        const { steady } = this.#parts.gateInputs();
        for (const instance of [...draft.members(incident.dedupe_key)].filter(
          ({ phase }) => phase === 'firing',
        )) {
          draft.setInstance(incident.rule_id, instance.key, {
            ...instance,
            phase: 'held',
            since: steady,
          });
        }
      },
    );
  }

  note(
    id: number,
    text: string,
    change: Change,
    data: Readonly<Record<string, unknown>> = {},
  ): Promise<Item> {
    return this.#change(id, change, (incident, actor, now) => ({
      incident: { ...incident, updated_at: now },
      events: [{ type: 'note', message: text, actor, data }],
    }));
  }

  /** Performs one transition with its row in the trail; repeating it changes nothing. */
  async #change(
    id: number,
    call: Change,
    transition: (incident: Incident, actor: Actor, now: number) => Step | undefined,
    also?: (draft: Draft, incident: Incident) => void,
  ): Promise<Item> {
    const { ledger, clock, store, seenBy } = this.#parts;
    call.note({ resourceType: 'incident', resourceId: id });
    const seen = await seenBy(call.principal);
    if (seen !== undefined) {
      assertOfOneDevice(await store.get(id, seen), seen);
    }
    const after = await ledger.transact(async (draft) => {
      const incident = await ledger.byId(id);
      if (incident === undefined) {
        throw errors.no_incident({ id });
      }
      const step = transition(incident, actorOf(call.principal), clock.now());
      if (step === undefined) {
        return incident;
      }
      const changed = draft.apply(step)!;
      also?.(draft, changed);
      call.note({
        resourceType: 'incident',
        resourceId: id,
        before: { status: incident.status },
        after: { status: changed.status, ...saidIn(step) },
      });
      return changed;
    });
    return shownNow(this.#parts, seen === undefined ? after : await store.get(id, seen), seen);
  }
}

/** Returns the decision and the reason that a step records, since the audit log does not show timelines. */
const saidIn = ({ events }: Step): Readonly<Record<string, unknown>> =>
  events.reduce(
    (said, { type, message, data }) => ({
      ...said,
      ...data,
      ...(type === 'note' && { note: message }),
    }),
    {},
  );

function untilOf({ hours, until, duration }: Static<typeof SilenceFor>, now: number): number {
  if ([hours, until, duration].filter((given) => given !== undefined).length !== 1) {
    throw errors.silence_length();
  }
  const end =
    hours !== undefined
      ? now + Math.round(hours * 3_600_000)
      : until !== undefined
        ? Date.parse(until)
        : now + durationOf(duration!, 'duration');
  if (end <= now || end - now > longestSilenceMs) {
    throw errors.silence_end();
  }
  return Math.round(end);
}
