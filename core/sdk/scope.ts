export type MaybePromise<T> = T | Promise<T>;

/** Undoes one effect, once; calling it again does nothing. */
export type Disposer = () => MaybePromise<void>;

/** Effect that a scope still owns, as `svc plugin why` prints it. */
export interface EffectNode {
  readonly label: string;
  readonly children: readonly EffectNode[];
}

/** Owner of everything a plugin does to the world. Effects are undone last-in first-out when it closes; a closed scope throws on every further use. */
export interface Scope {
  /** Aborted before the first undo runs. */
  readonly signal: AbortSignal;
  readonly closed: boolean;
  /** Registers the undo of an effect; call it before the effect becomes visible. */
  defer(label: string, undo: () => MaybePromise<void>): Disposer;
  /** Repeats `tick` every `ms` after commit, at a fixed rate. A tick never overlaps itself: those due meanwhile are left out; its error is a strike. */
  interval(label: string, ms: number, tick: (signal: AbortSignal) => MaybePromise<void>): Disposer;
  /** Runs `tick` once, `ms` after commit (or after now, when already committed). */
  timeout(label: string, ms: number, tick: (signal: AbortSignal) => MaybePromise<void>): Disposer;
  /** Background work from commit until `signal`; closing the scope waits for it. Its error is a strike. */
  task(label: string, work: (signal: AbortSignal) => Promise<void>): Disposer;
  /** Ties a life of its own to the scope, such as a process: it begins at commit (or now, when already committed), `label` tells how it is, and it has `endMs` to end. */
  occupy(
    label: () => string,
    life: { readonly begin: () => void; readonly end: () => Promise<void>; readonly endMs: number },
  ): Disposer;
  /** A part that can end before the whole. */
  child(label: string): Scope & { close(): Promise<unknown> };
}
