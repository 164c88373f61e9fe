import { type TSchema, Type } from 'typebox';

import { userPattern } from '../protocol/frames.ts';

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });
const Timestamp = Type.String({ format: 'date-time' });
const Fingerprint = Type.String({
  pattern: '^SHA256:[A-Za-z0-9+/]{43}$',
  examples: ['SHA256:'.padEnd(50, 'A')],
});
const Digest = Type.String({ description: 'SHA-256 of the .cast.gz, in hex' });

export const IdParams = Type.Object({ id: Id });
export const DeviceParams = Type.Object({ device_id: Id });

export const TicketBody = Type.Object({
  device_id: Id,
  user: Type.Optional(
    Type.String({
      pattern: userPattern,
      examples: ['deploy'],
      description: 'User name on the device; if omitted, it must be sent in the first frame',
    }),
  ),
  session_id: Type.Optional(
    Type.Integer({
      ...Id,
      description:
        'Session of your shell to reconnect to; a shell stays open for 60 s without a browser. If omitted, a new shell is opened',
    }),
  ),
});

export const TicketItem = Type.Object({
  ticket: Type.String(),
  protocol: Type.String({ description: 'Subprotocol to offer in addition to svc.shell.v1' }),
  path: Type.String({ description: 'Path at which to open the WebSocket' }),
  expires_in: Type.Integer(),
  expires_at: Timestamp,
});

const Recording = Type.Object({
  state: Type.Enum(['recording', 'complete', 'interrupted', 'failed', 'deleted'], {
    description:
      'interrupted: the service was killed, and the recording ends there; failed: it could not be written',
  }),
  bytes: orNull(Type.Integer()),
  sha256: orNull(Digest),
  duration_seconds: orNull(Type.Number()),
});

export const SessionItem = Type.Object({
  id: Id,
  user_id: orNull(Type.Integer({ description: 'null: an operator on the machine that runs svc' })),
  device_id: Id,
  edge_id: Id,
  remote_user: Type.String(),
  started_at: Timestamp,
  ended_at: orNull(Timestamp),
  attached: Type.Boolean({
    description: 'false: the shell has ended or is waiting for its browser to reconnect',
  }),
  bytes_in: Type.Integer(),
  bytes_out: Type.Integer(),
  exit_code: orNull(Type.Integer()),
  ended_by: orNull(
    Type.Enum([
      'exit',
      'closed',
      'bad_frame',
      'idle',
      'max_duration',
      'killed',
      'revoked',
      'device_lost',
      'record_failure',
      'record_full',
      'manager_restart',
    ]),
  ),
  recording: orNull(Recording),
});

export const SessionQuery = Type.Object({
  state: Type.Optional(Type.Enum(['active', 'ended', 'all'], { description: 'Default: active' })),
  device_id: Type.Optional(Id),
  user_id: Type.Optional(Id),
});

export const RecordingItem = Type.Object({
  id: Id,
  session_id: Id,
  user_id: orNull(Type.Integer()),
  device_id: Id,
  remote_user: Type.String(),
  started_at: Timestamp,
  ended_at: orNull(Timestamp),
  ...Recording.properties,
});

export const RecordingQuery = Type.Object({
  device_id: Type.Optional(Id),
  user_id: Type.Optional(Id),
});
export const DownloadQuery = Type.Object({
  format: Type.Optional(Type.Enum(['gz', 'cast'], { description: 'Default: gz, a .cast.gz file' })),
});

export const HostKeyItem = Type.Object({
  device_id: Id,
  algorithm: Type.String(),
  fingerprint: Fingerprint,
  trusted_at: Timestamp,
  trusted_by: Type.Enum(['first_use', 'administrator']),
  refused: orNull(
    Type.Object({ algorithm: Type.String(), fingerprint: Fingerprint, offered_at: Timestamp }),
  ),
});

export const AcceptBody = Type.Object({
  fingerprint: Type.String({ ...Fingerprint, description: 'Fingerprint of the refused key' }),
});
