import type { HttpOptions, Readiness } from '../http/index.ts';
import type { Tenure } from '../storage/index.ts';

/** One of several processes of which one at a time runs the house. */
export interface NodePort {
  readonly tenure: Tenure;
  /** Throws while this process may not tell anybody anything. */
  assertOwner(): void;
  /** Answers a request in place of the house, where it returns true. */
  readonly gate: HttpOptions['gate'];
  readiness(): Readiness;
  /** Services of the node, for plugins. */
  readonly services: readonly { readonly id: string; readonly instance: object }[];
  /** Leaves the address to the house. */
  beforeListen(): void;
}
