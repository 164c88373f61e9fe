import { useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { signOut, useUser } from '../../client/session.ts';
import { account as text } from '../../text/english/administration/account.ts';
import { attempt, tell } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Fields, Head, Section } from '../../kit/parts.tsx';
import { Sessions } from './sessions.tsx';
import { Tokens } from './tokens.tsx';

/** Page of the signed-in user: password, API tokens, sessions. */
export default function Account() {
  const { display_name: name, email, role } = useUser();
  return (
    <>
      <Head title={text.title} />
      <Fields
        of={[
          [text.name, name],
          [text.email, email],
          [text.role, role],
        ]}
      />
      <Password />
      <Tokens />
      <Sessions />
    </>
  );
}

function Password() {
  const { id, email } = useUser();
  const [current, setCurrent] = useState('');
  const [fresh, setFresh] = useState('');
  const change = async (): Promise<void> => {
    await api.patch(`/users/${id}/password`, { password: fresh, current_password: current });
    tell(text.changed);
    // This session has ended, too: the page says so before the next request finds out.
    await attempt(signOut);
  };
  return (
    <Section title={text.password}>
      <Form submit={text.change} onSubmit={change} disabled={current === '' || fresh === ''}>
        <input type="hidden" name="username" autocomplete="username" value={email} />
        <TextField
          label={text.current}
          value={current}
          onInput={setCurrent}
          type="password"
          autoComplete="current-password"
        />
        <TextField
          label={text.fresh}
          value={fresh}
          onInput={setFresh}
          type="password"
          autoComplete="new-password"
          hint={text.freshHint}
        />
      </Form>
    </Section>
  );
}
