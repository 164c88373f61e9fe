import type { Settings } from 'svc/sdk';

const mebibyte = 1024 * 1024;

/** Max size of one body as sent, whatever the settings say. */
export const maxBodyBytes = 16 * mebibyte;

const burstSeconds = 4;

export interface Flow {
  readonly rate: number;
  readonly burst: number;
}

/** Limits of intake, from the current settings. */
export interface PushLimits {
  readonly bytesInFlight: number;
  readonly bytesInFlightOfOne: number;
  readonly bytes: Flow;
  readonly requests: Flow;
}

export function pushLimits(settings: Settings): PushLimits {
  const bytesInFlight = settings.get<number>('ingest.max_bytes_in_flight');
  const bytes = settings.get<number>('ingest.max_bytes_per_second');
  const requests = settings.get<number>('ingest.max_requests_per_second');
  return {
    bytesInFlight,
    bytesInFlightOfOne: bytesInFlight / 2,
    bytes: { rate: bytes, burst: burstSeconds * bytes },
    requests: { rate: requests, burst: Math.max(1, burstSeconds * requests) },
  };
}
