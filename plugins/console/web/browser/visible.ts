import { options, type VNode } from 'preact';

/** Control characters, and those that turn the direction of what follows: they would hide or disguise what stands around them. */
const invisible =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const mayHide =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

/** The text with everything that cannot be seen made visible, such as `␛[31m` for a colour of a terminal. */
export const visible = (text: string): string =>
  mayHide.test(text) ? text.replace(invisible, picture) : text;

function picture(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) {
    return String.fromCharCode(0x2400 + code);
  }
  return code === 0x7f ? '␡' : `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

const attributes = ['title', 'aria-label', 'placeholder', 'alt'];

/**
 * Makes hidden characters visible on every page: each string about to be rendered passes through
 * here. Editable fields are left unchanged.
 */
export function showEverything(): void {
  const before = options.vnode;
  options.vnode = (node: VNode) => {
    if (typeof node.type === 'string') {
      const props = node.props as Record<string, unknown>;
      const { children } = props;
      if (typeof children === 'string') {
        props['children'] = visible(children);
      } else if (
        Array.isArray(children) &&
        children.some((child) => typeof child === 'string' && mayHide.test(child))
      ) {
        props['children'] = children.map((child: unknown) =>
          typeof child === 'string' ? visible(child) : child,
        );
      }
      for (const name of attributes) {
        if (typeof props[name] === 'string') {
          props[name] = visible(props[name]);
        }
      }
    }
    before?.(node);
  };
}
