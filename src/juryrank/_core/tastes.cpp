namespace juryrank {}
