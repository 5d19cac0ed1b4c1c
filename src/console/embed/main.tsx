import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, useEffect, useState, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { openQueryClient } from '../api/query-client.ts';
import { applyTheme } from '../frame/theme.ts';
import '../style/console.css';
import '../style/figures.css';
import './embed.css';
import { giveToken, hasToken } from './access.ts';
import { formatsOf } from './formats.ts';
import { InvoicesView, InvoiceView } from './invoice-views.tsx';
import { pages, pathOf, readOpening, viewOf, type Opening, type View } from './opening.ts';
import { ReceiptsView, ReceiptView } from './receipt-views.tsx';
import { SpokenProvider, useSpoken } from './language.tsx';
import { directionOf, languages } from './texts.ts';
import { UsageView } from './usage-view.tsx';

const client = openQueryClient({ refetchOnWindowFocus: true });

/** Takes the token out of the address, and out of the history, before anything else is done. */
function open(): Opening {
  const opening = readOpening(location.hash, navigator.languages);
  if (opening.token !== undefined) {
    giveToken(opening.token);
    history.replaceState(null, '', pathOf(opening.view));
  }
  return opening;
}

function dress({ language, theme, accent }: Opening): void {
  const { documentElement: page } = document;
  page.lang = language;
  page.dir = directionOf(language);
  applyTheme(theme);
  if (accent === undefined) return;
  page.style.setProperty('--accent', `light-dark(${accent.light}, ${accent.dark})`);
}

const viewHere = (): View => viewOf(location.hash.replace(/^#/, ''));

function useView(): View {
  const [view, setView] = useState(viewHere);
  useEffect(() => {
    const look = (): void => setView(viewHere());
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, []);
  return view;
}

const Shown = ({ view: { page, id, of } }: { readonly view: View }): ReactNode => {
  if (page === 'invoices') return id === undefined ? <InvoicesView /> : <InvoiceView id={id} />;
  if (page === 'receipts')
    return id === undefined ? <ReceiptsView of={of} /> : <ReceiptView id={id} />;
  return <UsageView />;
};

function Embed(): ReactNode {
  const { texts } = useSpoken();
  const view = useView();
  if (!hasToken()) {
    return (
      <main className="alone">
        <h1>{texts.title}</h1>
        <p>{texts.noToken}</p>
      </main>
    );
  }
  return (
    <>
      <header className="bar">
        <nav aria-label={texts.pages}>
          <ul>
            {pages.map((page) => (
              <li key={page}>
                <a
                  href={pathOf({ page, id: undefined })}
                  aria-current={page === view.page ? 'page' : undefined}
                >
                  {texts[page]}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      </header>
      <main>
        <Shown key={pathOf(view)} view={view} />
      </main>
    </>
  );
}

let root: Root | undefined;

async function start(opening: Opening): Promise<void> {
  dress(opening);
  const { texts } = await languages[opening.language].load();
  const spoken = { texts, formats: formatsOf(opening.language) };
  const place = document.getElementById('root');
  if (!place) return;
  if (!hasToken()) document.title = texts.title;
  root ??= createRoot(place);
  root.render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <SpokenProvider value={spoken}>
          <Embed />
        </SpokenProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}

// Whoever embeds the page gives another token, or another language, the same way, without a load.
addEventListener('hashchange', () => {
  const opening = open();
  if (opening.token === undefined) return;
  // It may be that of another account: nothing that was shown stays until there is something else.
  root?.unmount();
  root = undefined;
  client.clear();
  void start(opening);
});

void start(open());
