import type { ComponentChildren } from 'preact';

interface Head {
  readonly name: string;
  readonly isNumeric?: boolean;
}

interface ScrollingProps {
  readonly title: string;
  readonly height: number;
  readonly heads: readonly Head[];
  readonly children: ComponentChildren;
}

/** Table of a panel, which scrolls inside it, also by the keyboard. */
export const Scrolling = ({ title, height, heads, children }: ScrollingProps) => (
  <div
    class="table scrolls"
    tabIndex={0}
    role="region"
    aria-label={title}
    style={{ height: `${height}px` }}
  >
    <table aria-label={title}>
      <thead>
        <tr>
          {heads.map(({ name, isNumeric }) => (
            <th key={name} scope="col" class={isNumeric ? 'num' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

export const headOf = ({ name, type }: { readonly name: string; readonly type: string }): Head => ({
  name,
  isNumeric: type === 'number',
});
