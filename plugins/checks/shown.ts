import { timestamp } from 'svc/sdk';

import type { Vote } from './rounds/verdict.ts';
import type { Check } from './check/check.ts';
import type { PictureOf } from './rounds/pictures.ts';
import type { Cause } from './standing/cause.ts';
import type { CheckShown, PlaceReading } from './check/check-schema.ts';

export const shownOf = (
  { name, definition, secrets, paused, state, since, cause, createdAt, updatedAt }: Check,
  votes: readonly Vote[],
  muted: Cause | undefined,
  picture: PictureOf | undefined,
  hours: readonly (number | null)[] = [],
): CheckShown => ({
  ...settingsOf(definition),
  name,
  places: [...definition.places],
  depends_on: [...definition.depends_on],
  conditions: [...definition.conditions],
  header_names: Object.keys(secrets.headers ?? {}),
  secret_names: Object.keys(secrets.secrets ?? {}),
  has_body: secrets.body !== undefined || secrets.send !== undefined,
  has_password: secrets.password !== undefined,
  paused,
  state: paused ? 'paused' : state,
  since: timestamp(since),
  cause: paused ? null : cause,
  muted: muted === undefined ? null : { ...muted, since: timestamp(muted.since) },
  readings: votes.map(readingOf),
  picture: picture === undefined ? null : { ...picture, at: timestamp(picture.at) },
  hours: [...hours],
  created_at: timestamp(createdAt),
  updated_at: timestamp(updatedAt),
});

const settingsOf = ({ steps, ...definition }: Check['definition']) => ({
  ...definition,
  ...(steps !== undefined && { steps: [...steps] }),
});

export function readingOf({ place, at, reading, offline }: Vote): PlaceReading {
  const { facts, success, cause, findings } = reading ?? {};
  const { certificate } = facts ?? {};
  return {
    place,
    state: success === undefined ? 'offline' : success ? 'up' : 'failing',
    at: timestamp(at),
    cause: offline ?? cause ?? null,
    took_ms: facts === undefined ? null : rounded(facts.took_ms),
    phases: Object.fromEntries(
      Object.entries(facts?.phases ?? {}).map(([phase, ms]) => [phase, rounded(ms)]),
    ),
    address: facts?.address ?? null,
    status: facts?.status ?? null,
    banner: facts?.banner ?? null,
    detail: facts?.detail ?? null,
    measured: [...(facts?.measured ?? [])],
    certificate:
      certificate === undefined
        ? null
        : {
            expires_at: timestamp(certificate.expires_at),
            subject: certificate.subject,
            issuer: certificate.issuer,
            names: certificate.names,
            problem: certificate.problem,
          },
    domain_expires_at:
      facts?.domain_expires_at === undefined ? null : timestamp(facts.domain_expires_at),
    steps: (facts?.steps ?? []).map(({ took_ms: took, ...step }) => ({
      ...step,
      took_ms: took === null ? null : rounded(took),
    })),
    findings: [...(findings ?? [])],
  };
}

const rounded = (ms: number): number => Math.round(ms * 100) / 100;
