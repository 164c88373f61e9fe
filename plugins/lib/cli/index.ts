export type { ApiClient, Reachable } from './api-client.ts';
export { clientOf } from './api-client.ts';
export { dataOf, globalOptions, suggestion, wordsOf } from './arguments.ts';
export { checkedUrl, clientOptions, isIdleFolder, localSvc, openClient } from './client-options.ts';
export type { Call, Command, Environment, Option, Result } from './command.ts';
export { type Chosen, execute } from './execute.ts';
export {
  asFailure,
  type ExitCode,
  exitCodes,
  Failure,
  unreachable,
  usageFailure,
} from './failure.ts';
export { type Branch, printable, printableLines, table, tree } from './layout.ts';
export { type Paint, paintFor } from './paint.ts';
export { milliseconds, paintedState, type PluginSummary } from './plugin-state.ts';
export {
  checkedName,
  currentProfile,
  defaultProfile,
  findProfile,
  flagOf,
  type Profile,
  profileOf,
  removeProfile,
  saveProfile,
  type SignedIn,
} from './profiles.ts';
export { openQuestions, type Questions } from './questions.ts';
export { type RunningSvc, runningSvc } from './running.ts';
export type { Serving, Shell, SqliteTable, Stoppable } from './shell.ts';
export { sizeOf } from './size.ts';
export { spanOf } from './span.ts';
