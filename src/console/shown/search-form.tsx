import { useEffect, useState, type ReactNode } from 'react';

/** A search that is in the address, so that it can be sent to somebody. */
export function SearchForm({
  label,
  hint,
  value,
  onSearch,
}: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onSearch: (text: string) => void;
}): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <form
      role="search"
      className="search"
      onSubmit={(event) => {
        event.preventDefault();
        onSearch(text.trim());
      }}
    >
      <label>
        <span>{label}</span>
        <input
          type="search"
          value={text}
          maxLength={255}
          placeholder={hint}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <button type="submit">Search</button>
    </form>
  );
}
