import { kept, Store } from './store.ts';

export type Theme = 'system' | 'light' | 'dark';

const themes: readonly Theme[] = ['system', 'light', 'dark'];

/** Theme that the user has chosen for this device. */
export const theme = new Store<Theme>(
  themes.find((name) => name === kept.read('theme')) ?? 'system',
);

/** Shows the chosen theme, now and whenever another one is chosen. */
export function followTheme(): void {
  const show = (): void => {
    const root = document.documentElement;
    if (theme.value === 'system') {
      delete root.dataset['theme'];
    } else {
      root.dataset['theme'] = theme.value;
    }
  };
  show();
  theme.onChange((chosen) => {
    kept.write('theme', chosen === 'system' ? undefined : chosen);
    show();
  });
}

/** Returns whether the page is dark at this moment. */
export const isDark = (): boolean =>
  theme.value === 'dark' ||
  (theme.value === 'system' &&
    typeof matchMedia === 'function' &&
    matchMedia('(prefers-color-scheme: dark)').matches);

export const otherTheme = (): void => theme.set(isDark() ? 'light' : 'dark');
