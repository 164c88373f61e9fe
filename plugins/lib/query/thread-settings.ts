import { messageOf, type PluginContext, type ThreadHandle } from 'svc/sdk';

/** Sends changed settings to a store's thread immediately, and to one that was restarted. */
export function keepSettled(
  { settings, scope, log }: PluginContext,
  thread: ThreadHandle,
  keys: readonly string[],
  current: () => unknown,
): void {
  const settle = (): Promise<void> =>
    thread
      .call<void>('settle', current())
      .catch((error: unknown) =>
        log.warn(
          { event: 'store.settings_not_applied', cause: messageOf(error) },
          'failed to apply changed settings to the store; change a setting again, or restart svc',
        ),
      );
  for (const key of keys) {
    scope.defer(`stop watching ${key}`, settings.watch<unknown>(key, settle));
  }
  scope.defer(
    'stop listening for starts of the thread',
    thread.onNotice(({ kind }) => void (kind === 'open' && settle())),
  );
}
