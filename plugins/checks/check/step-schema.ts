import { stepKinds } from 'svc/check';
import { Type } from 'typebox';

/** One step of a browser check. */
export const Step = Type.Object(
  {
    do: Type.Enum([...stepKinds], {
      description:
        'goto: open a URL; click: click an element; fill: type into a field, or choose from a list; press: press a key; wait_for_…: wait as long as the check may take; expect_…: hold within 5 s, where * in a URL or title stands for any text.',
    }),
    selector: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        examples: ['#email'],
        description: 'CSS selector of the element; the first one that is visible counts.',
      }),
    ),
    value: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: 'URL, text, key or pattern. Visible to all users who may see the check.',
      }),
    ),
    secret: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        examples: ['password'],
        description: 'Name in secrets of the value that fill types.',
      }),
    ),
  },
  { examples: [{ do: 'click', selector: 'button[type=submit]' }] },
);
