import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { QueryClientProvider } from '@tanstack/react-query';
import './account/arrival.ts'; // first: tokens leave the address before anything else runs
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/chat.css';
import './styles/composer.css';
import './styles/feedback.css';
import './styles/text.css';
import './styles/panel.css';
import './styles/account.css';
import './styles/picture.css';
import './styles/artifacts.css';
import { queryClient } from './api/queries.ts';
import { App } from './App.tsx';

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
