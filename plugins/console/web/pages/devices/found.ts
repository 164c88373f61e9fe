import type { Device } from '../shapes.ts';

/** A device as a search returns it. */
export interface FoundDevice extends Device {
  readonly agent_version: string | null;
  readonly edge_id: number | null;
  readonly cpu: number | null;
  readonly memory: number | null;
  readonly load: number | null;
  readonly disk: number | null;
  readonly firing: number;
  readonly severity: 'critical' | 'warning' | 'info' | null;
}
